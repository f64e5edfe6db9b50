console.log(process.platform, process.arch, typeof process.pid, process.cwd(), process.title.length > 0, process.version.startsWith('v'), process.release.name);
console.log(process.uptime() > 0, process.hrtime.bigint() > 0n, process.cpuUsage().user > 0, process.umask().toString(8), process.execArgv, process.argv.length, process.exitCode);
process.chdir('/tmp'.length ? require('os').tmpdir() : '.');
console.log(process.cwd() === require('fs').realpathSync(require('os').tmpdir()), require('os').EOL === '\n', require('os').endianness(), require('os').constants.signals.SIGKILL);
try { process.chdir('/nowhere'); } catch (error) { console.log(error.code); }
try { process.kill(1, 'NOSIGNAL'); } catch (error) { console.log(error.code); }
