const qs = require('querystring');
console.log(qs.parse('a=1&a=2&b=%20x&c'), qs.stringify({ x: [1, 2], y: 'ä', z: '' }), qs.escape('a/b'), qs.unescape('%41'));
