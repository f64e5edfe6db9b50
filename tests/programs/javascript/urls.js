const url = new URL('../b/./c?x=1&y=%C3%BC&x=2#frag', 'https://user:pw@Example.com:8443/a/d/');
console.log(url.href, url.host, url.searchParams.getAll('x'), url.searchParams.get('y'), url.pathname);
url.searchParams.append('z', 'ä b'); url.port = '443';
console.log(String(url), new URLSearchParams({ q: 'a&b', n: '1' }).toString(), URL.canParse ? URL.canParse('no url') : false);
const { fileURLToPath, pathToFileURL, parse } = require('url');
console.log(fileURLToPath('file:///tmp/a%20b'), pathToFileURL('/tmp/ä#').href, parse('http://h/p?q=1').query, new URL('https://münchen.de').host);
try { new URL('//nowhere'); } catch (error) { console.log(error.code); }
