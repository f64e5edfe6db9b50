function inner(value) {
  return value.missing.property;
}
console.log('before');
inner({});
