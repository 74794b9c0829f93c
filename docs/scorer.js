// Weights of the site's search: pages for users before the reference of Python, and this before examples and measurements.
const LATER = /^(gallery|benchmarks|verification|project|comparison|pairs|bibliography|reliability)/;
var Scorer = {
  score: ([name, title, anchor, description, score]) => score * (LATER.test(name) ? 0.3 : name.startsWith("api/") ? 0.6 : 1),
  // The rest as Sphinx has it.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
