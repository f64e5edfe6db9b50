console.log(new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' }).format(1234.5), new Intl.NumberFormat('en', { notation: 'compact' }).format(1234567));
console.log(new Intl.PluralRules('en', { type: 'ordinal' }).select(22), new Intl.ListFormat('en').format(['a', 'b', 'c']), new Intl.RelativeTimeFormat('fr').format(-3, 'day'));
console.log(['z', 'ä', 'a', 'Z'].sort(new Intl.Collator('de').compare), new Intl.DisplayNames('en', { type: 'region' }).of('JP'));
console.log([...new Intl.Segmenter('en', { granularity: 'word' }).segment('two words')].filter((s) => s.isWordLike).length, 'İ'.toLocaleLowerCase('tr'), 'ß'.toUpperCase(), 'é'.normalize('NFD').length);
console.log(new Intl.DateTimeFormat('ja-JP', { dateStyle: 'full', timeZone: 'UTC' }).format(0), Intl.DateTimeFormat().resolvedOptions().timeZone);
