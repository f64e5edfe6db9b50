for (let i = 0; i < 5000; i++) console.log(`line ${i} ${'x'.repeat(40)}`);
process.stdout.write('no newline at the end');
