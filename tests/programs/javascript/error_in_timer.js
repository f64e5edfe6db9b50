setTimeout(() => {
  const list = null;
  list.push(1);
}, 1);
