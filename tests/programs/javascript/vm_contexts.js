const vm = require('vm');
const context = vm.createContext({ x: 2, console: undefined });
console.log(vm.runInContext('x += 40; var made = [1]; typeof console + x', context), context.x, context.made instanceof Array, vm.isContext(context));
console.log(new vm.Script('this.answer = 6 * 7').runInThisContext(), globalThis.answer, eval('1 + 1'), new Function('a', 'b', 'return a + b')(1, 2));
try { vm.runInNewContext('while (true);', {}, { timeout: 20 }); } catch (error) { console.log(error.code); }
try { vm.runInNewContext('syntax error here', {}, 'own.vm'); } catch (error) { console.log(error.name, error.stack.split('\n')[0]); }
