const text = 'one two three';
(async () => {
  const stream = new ReadableStream({ start(c) { for (const w of text.split(' ')) c.enqueue(w); c.close(); } });
  const longer = new TransformStream({ transform(w, c) { c.enqueue(`<${w}>`); } });
  const found = [];
  for await (const w of stream.pipeThrough(longer)) found.push(w);
  console.log(found.join(''));
  const packed = new Blob(['grüße ', new Uint8Array([33])]);
  console.log(packed.size, await packed.text(), await new Response('body').text());
})();
