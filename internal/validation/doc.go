// Package validation says what is wrong with the parts of a spec that several
// workloads have: selectors, templates, priorities. Every function is pure and
// returns the errors field by field, below the path that it is given.
package validation
