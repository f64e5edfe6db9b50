const { subtle } = globalThis.crypto;
(async () => {
  const digest = await subtle.digest('SHA-256', new TextEncoder().encode('text'));
  console.log(Buffer.from(digest).toString('hex').slice(0, 16));
  const key = await subtle.importKey('raw', Buffer.alloc(16, 1), 'AES-CTR', false, ['encrypt', 'decrypt']);
  const how = { name: 'AES-CTR', counter: new Uint8Array(16), length: 64 };
  const packed = await subtle.encrypt(how, key, Buffer.from('secret'));
  console.log(Buffer.from(packed).toString('hex'), Buffer.from(await subtle.decrypt(how, key, packed)).toString());
  console.log(crypto.getRandomValues(new Uint8Array(4)).length);
})();
