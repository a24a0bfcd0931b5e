// SPDX-License-Identifier: Apache-2.0

// Package rules holds no code. Its test ties the rules of behaviour, which stand
// in the RULES.md beside the package that keeps them, to the code that cites
// them:
//
//   - a rule that a comment, a test or a page cites exists,
//   - no rule is written twice, and all of one page have the page's letters,
//   - every rule has a test that names it,
//   - a page begins with what its users want to know.
//
// A rule begins with its id, at the start of a paragraph or of a list item:
// "**CS-18** Instance ids: …". It is cited by the id, and several in a row as
// "CS-7 to CS-14".
package rules
