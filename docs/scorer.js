// Weights of the site's search: the page by question, then guides and tutorials, then the reference of Python, then the rest.
const WEIGHTS = [
  [/^(gallery|benchmarks|verification|project|comparison|pairs|bibliography|reliability|theory|design|releasing)/, 0.3],
  [/^(argon|kepler|water|manifolds|adaptive-variational)$/, 0.3],
  [/^api\//, 0.6],
  [/^README$/, 1.2],
];
var Scorer = {
  score: ([name, title, anchor, description, score]) => score * (WEIGHTS.find(([pages]) => pages.test(name)) || [0, 1])[1],
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
