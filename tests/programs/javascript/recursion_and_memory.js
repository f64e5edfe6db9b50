let depth = 0;
try { (function down() { depth++; down(); })(); } catch (error) { console.log(error.constructor.name, error.message, depth > 5000); }
const big = new Float64Array(2e6).fill(1.5);
console.log(big.reduce((a, b) => a + b), Buffer.alloc(8 << 20).length, Array.from({ length: 1e5 }, (_, i) => ({ i })).length);
try { new Array(-1); } catch (error) { console.log(error.message); }
try { 'x'.repeat(2 ** 30); } catch (error) { console.log(error.message); }
console.log(process.memoryUsage().heapUsed > 0, typeof process.memoryUsage.rss());
