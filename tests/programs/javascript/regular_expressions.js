const log = '2024-01-02 ERROR [db] timeout after 30s\n2024-01-03 WARN [web] slow: 1200ms\n';
for (const { groups } of log.matchAll(/^(?<day>\d{4}-\d\d-\d\d) (?<level>\w+) \[(?<part>[^\]]+)\] (?<text>.*)$/gm)) console.log({ ...groups });
console.log('aBc'.replace(/b/i, (m) => `<${m}>`), 'a1b22'.split(/(\d+)/), /(?<=\$)\d+/.exec('cost $42')[0], /\p{Lu}\p{Ll}+/u.exec('über Äpfel')[0], 'x'.replaceAll('x', '$&$&'));
const sticky = /foo/y; sticky.lastIndex = 3;
console.log(sticky.test('barfoo'), sticky.lastIndex, /a.c/s.test('a\nc'), /(\w)\1/.test('hello'), /^[\u{1F600}]$/u.test('😀'), 'ab'.match(/(?<first>a)(b)?/d).indices[0]);
