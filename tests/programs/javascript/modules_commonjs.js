const fs = require('fs');
const Module = require('module');
fs.mkdirSync('node_modules/greet/lib', { recursive: true });
fs.writeFileSync('node_modules/greet/package.json', '{"name":"greet","version":"1.2.3","main":"lib/index.js","exports":{".":"./lib/index.js","./data":"./data.json"}}');
fs.writeFileSync('node_modules/greet/lib/index.js', 'exports.hi = (n) => `hi ${n}`; exports.count = (exports.count ?? 0) + 1; exports.from = module.parent?.filename?.split("/").pop();');
fs.writeFileSync('node_modules/greet/data.json', '{"list":[1,2,3]}');
fs.writeFileSync('a.js', 'exports.early = 1; const b = require("./b"); exports.sees = b.saw; ');
fs.writeFileSync('b.js', 'exports.saw = Object.keys(require("./a"));');
console.log(require('greet').hi('you'), require('greet').count, require('greet').from, require('greet/data').list, require('./a'));
console.log(require.resolve('greet'), require.main === module, module.children.length, Module.builtinModules.includes('fs'));
for (const name of ['nowhere', './nowhere', 'greet/private', 'node:nowhere'])
  try { require(name); } catch (error) { console.log(error.code); }
