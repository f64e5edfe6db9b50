const path = require('path');
console.log(path.join('/a', '..', 'b', './c'), path.resolve('/x', 'y', '../z'), path.relative('/a/b/c', '/a/d'), path.parse('/home/u/file.tar.gz'));
console.log(path.normalize('/a//b/../c/.'), path.isAbsolute('a'), path.extname('.bashrc'), path.basename('/a/b.txt', '.txt'), path.format({ dir: '/d', name: 'n', ext: '.e' }), path.win32.join('a', 'b'));
