// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"
)

// An edit is a part of a mutant that is one of many in the same file. The program is told when it starts which mutant is
// alive. So hundreds of mutants are compiled once. No edit adds a line, so that errors of the compiler name the right one.
type edit struct {
	at, until int    // the bytes to replace; none to insert
	text      string // with the number of the mutant as %d
	opens     bool   // it stands before what reaches to, and the other one behind what begins at, the offset span
	closes    bool
	span      int
}

// Around are the edits that put text before and behind something.
func around(from, to int, before, behind string) []edit {
	return []edit{{at: from, until: from, text: before, opens: true, span: to}, {at: to, until: to, text: behind, closes: true, span: from}}
}

// Helpers are the functions that stand for operators.
var helpers = map[token.Token]string{token.LSS: "mutantLess", token.LEQ: "mutantLessOrSame", token.GTR: "mutantMore", token.GEQ: "mutantMoreOrSame",
	token.ADD: "mutantSum", token.SUB: "mutantDifference"}

// Variable is the name of the variable of the environment that says which mutant is alive.
const variable = "MUTANT"

// HelpersOf is the file that a package of switched mutants has besides.
func helpersOf(pkg string) string {
	return "package " + pkg + `

import (
	"cmp"
	"os"
	"strconv"
)

var mutantAlive, _ = strconv.Atoi(os.Getenv("` + variable + `"))

type mutantNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func mutantOn(n int) bool { return n == mutantAlive }

func mutantAndOr(n int, and, a bool, b func() bool) bool {
	if and != mutantOn(n) {
		return a && b()
	}
	return a || b()
}

func mutantLess[T cmp.Ordered](n int, a, b T) bool { return a < b || mutantOn(n) && a == b }

func mutantLessOrSame[T cmp.Ordered](n int, a, b T) bool { return a < b || !mutantOn(n) && a == b }

func mutantMore[T cmp.Ordered](n int, a, b T) bool { return a > b || mutantOn(n) && a == b }

func mutantMoreOrSame[T cmp.Ordered](n int, a, b T) bool { return a > b || !mutantOn(n) && a == b }

func mutantSum[T mutantNumber](n int, a, b T) T {
	if mutantOn(n) {
		return a - b
	}
	return a + b
}

func mutantDifference[T mutantNumber](n int, a, b T) T {
	if mutantOn(n) {
		return a + b
	}
	return a - b
}

func mutantInt(n, a, b int) int { return mutantLike(n, a, a, b) }

func mutantLike[T mutantNumber](n int, _, a, b T) T {
	if mutantOn(n) {
		return b
	}
	return a
}
`
}

// Switched is the source with all mutants that are given, by their numbers.
func switched(source []byte, mutants map[int]mutant) []byte {
	type numbered struct {
		edit
		n, i int
	}
	var all []numbered
	for n, m := range mutants {
		for i, e := range m.edits {
			all = append(all, numbered{e, n, i})
		}
	}
	class := func(e edit) int {
		switch {
		case e.closes:
			return 0
		case e.opens:
			return 2
		}
		return 1
	}
	slices.SortFunc(all, func(a, b numbered) int {
		order := cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(class(a.edit), class(b.edit)))
		if order != 0 {
			return order
		}
		// Of what begins, or ends, at the same place, the larger is outside; of the same size what was found first.
		outside := cmp.Or(cmp.Compare(b.span, a.span), cmp.Compare(mutants[a.n].order, mutants[b.n].order))
		if a.closes {
			return cmp.Or(cmp.Compare(b.span, a.span), cmp.Compare(mutants[b.n].order, mutants[a.n].order))
		}
		return outside
	})
	var out strings.Builder
	at := 0
	for _, e := range all {
		if e.at < at { // within what another mutant has replaced
			continue
		}
		out.Write(source[at:e.at])
		out.WriteString(strings.ReplaceAll(e.text, "%d", fmt.Sprint(e.n)))
		at = e.until
	}
	out.Write(source[at:])
	return []byte(out.String())
}
