process.on('uncaughtException', (error, origin) => console.log('caught', error.message, origin));
process.on('unhandledRejection', (reason) => console.log('rejected', reason.message));
process.on('warning', (warning) => console.log('warned', warning.name, warning.message));
process.emitWarning('careful', 'OwnWarning');
Promise.reject(new Error('kept by nobody'));
setImmediate(() => { throw new Error('thrown later'); });
