// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// A mutant is one change in one file.
type mutant struct {
	pkg, function string // relative to the module; "planner.start" for a method
	file          string // its name
	line, last    int    // the lines on which it stands, from 1
	change        string // what the line says before and after

	start, end int    // the bytes to replace
	text       string // and by what
	edits      []edit // that make it one of many in a file, see switched
	order      int    // of the mutants of the file, those of what is outside first
}

func (m mutant) String() string {
	return fmt.Sprintf("%s/%s:%d: %s: %s", m.pkg, m.file, m.line, m.function, m.change)
}

// Key names a mutant without its line number, so that the name outlives changes elsewhere in the file.
func (m mutant) key() string { return m.pkg + " " + m.function + "\n" + m.change }

// Planted is the source with the change.
func (m mutant) planted(source []byte) []byte {
	return []byte(string(source[:m.start]) + m.text + string(source[m.end:]))
}

// By which operator another is replaced.
var operators = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.LEQ, token.LEQ: token.LSS,
	token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

// A finder collects the mutants of a file.
type finder struct {
	mutants   []mutant
	pkg, file string
	source    []byte
	files     *token.FileSet
	function  string
	seen      map[string]int
	beside    map[*ast.BasicLit]string // of constants, what they are compared with or added to
}

// Find returns the mutants of a file, in the order in which they stand.
func find(pkg, file string, source []byte) ([]mutant, error) {
	f := &finder{pkg: pkg, file: file, source: source, files: token.NewFileSet(), seen: map[string]int{}, beside: map[*ast.BasicLit]string{}}
	parsed, err := parser.ParseFile(f.files, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range parsed.Decls {
		if function, ok := d.(*ast.FuncDecl); ok && function.Body != nil {
			f.function = functionName(function)
			ast.Inspect(function.Body, f.visit)
		}
	}
	return f.mutants, nil
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	for {
		switch of := t.(type) {
		case *ast.StarExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.IndexListExpr:
			t = of.X
		case *ast.Ident:
			return of.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.operation(n)
	case *ast.IfStmt:
		if !isComparison(n.Cond) {
			from, to := f.offset(n.Cond.Pos()), f.offset(n.Cond.End())
			f.replace(from, to, "!("+string(f.source[from:to])+")", around(from, to, "(", ") != mutantOn(%d)")...)
		}
	case *ast.BranchStmt:
		switch n.Tok {
		case token.CONTINUE:
			f.branch(n, "continue", "break")
		case token.BREAK:
			f.branch(n, "break", "continue")
		}
	case *ast.BasicLit:
		switch {
		case n.Kind == token.INT && n.Value == "0":
			f.constant(n, "1")
		case n.Kind == token.INT && n.Value == "1":
			f.constant(n, "0")
		}
	case *ast.BlockStmt:
		f.remove(n.List)
	case *ast.CaseClause:
		f.remove(n.Body)
	case *ast.CommClause:
		f.remove(n.Body)
	}
	return true
}

// Operation has another operator.
func (f *finder) operation(n *ast.BinaryExpr) {
	f.noteBeside(n.X, n.Y)
	f.noteBeside(n.Y, n.X)
	other, ok := operators[n.Op]
	if !ok || n.Op == token.ADD && (isText(n.X) || isText(n.Y)) {
		return
	}
	from, to, at := f.offset(n.Pos()), f.offset(n.End()), f.offset(n.OpPos)
	end := at + len(n.Op.String())
	var edits []edit
	switch n.Op {
	case token.EQL, token.NEQ:
		edits = around(from, to, "((", ") != mutantOn(%d))")
	case token.LAND, token.LOR:
		edits = append(around(from, to, "mutantAndOr(%d, "+fmt.Sprint(n.Op == token.LAND)+", ", ") })"),
			edit{at: at, until: end, text: ", func() bool { return ("})
	default:
		edits = append(around(from, to, helpers[n.Op]+"(%d, ", ")"), edit{at: at, until: end, text: ","})
	}
	f.replace(at, end, other.String(), edits...)
}

// NoteBeside remembers what a constant is compared with, if it costs and does nothing to read that once more.
func (f *finder) noteBeside(constant, with ast.Expr) {
	if lit, ok := constant.(*ast.BasicLit); ok && harmless(with) {
		f.beside[lit] = oneLine(string(f.source[f.offset(with.Pos()):f.offset(with.End())]))
	}
}

func harmless(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return harmless(e.X)
	case *ast.StarExpr:
		return harmless(e.X)
	case *ast.CallExpr:
		name, ok := e.Fun.(*ast.Ident)
		return ok && name.Name == "len" && harmless(e.Args[0])
	}
	return false
}

func (f *finder) constant(n *ast.BasicLit, other string) {
	from, to := f.offset(n.Pos()), f.offset(n.End())
	text := "mutantInt(%d, " + n.Value + ", " + other + ")"
	if with, ok := f.beside[n]; ok {
		text = "mutantLike(%d, " + with + ", " + n.Value + ", " + other + ")"
	}
	f.replace(from, to, other, edit{at: from, until: to, text: text})
}

func (f *finder) branch(n *ast.BranchStmt, is, other string) {
	at, to := f.offset(n.TokPos), f.offset(n.End())
	end := at + len(is)
	f.replace(at, end, other, edit{at: at, until: to, text: "if mutantOn(%d) { " + other + string(f.source[end:to]) + " }; " + string(f.source[at:to])})
}

// Remove takes out the statements that can miss: calls, assignments, increments. What is only said in a log stays.
func (f *finder) remove(statements []ast.Stmt) {
	for _, s := range statements {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if logs(s.X) {
				continue
			}
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.IncDecStmt:
		default:
			continue
		}
		from, to := f.offset(s.Pos()), f.offset(s.End())
		f.replace(from, to, "", around(from, to, "if !mutantOn(%d) { ", " }")...)
	}
}

// Replace adds the mutant that has another text between two offsets.
func (f *finder) replace(from, to int, text string, edits ...edit) {
	m := mutant{pkg: f.pkg, function: f.function, file: f.file, start: from, end: to, text: text, edits: edits, order: len(f.mutants)}
	m.line = 1 + strings.Count(string(f.source[:from]), "\n")
	m.last = m.line + strings.Count(string(f.source[from:to]), "\n")
	m.change = f.change(m)
	// The same change in another line of the function has a number.
	f.seen[m.key()]++
	if n := f.seen[m.key()]; n > 1 {
		m.change += fmt.Sprintf(" (%d)", n)
	}
	f.mutants = append(f.mutants, m)
}

func (f *finder) offset(p token.Pos) int { return f.files.Position(p).Offset }

// Change shows the lines of a mutant before and after.
func (f *finder) change(m mutant) string {
	first := strings.LastIndexByte(string(f.source[:m.start]), '\n') + 1
	last := m.end + strings.IndexByte(string(f.source[m.end:])+"\n", '\n')
	before := oneLine(string(f.source[first:last]))
	after := oneLine(string(f.source[first:m.start]) + m.text + string(f.source[m.end:last]))
	if after == "" {
		return "without " + before
	}
	return before + " => " + after
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return isText(e.X) || isText(e.Y)
	}
	return false
}

// The negation of "a == b" is the mutant of its operator.
func isComparison(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	return ok && (b.Op == token.EQL || b.Op == token.NEQ)
}

// Logs reports whether a statement only logs: logger.Info, klog.FromContext(ctx).V(4).Info.
func logs(e ast.Expr) bool {
	for {
		switch of := e.(type) {
		case *ast.CallExpr:
			e = of.Fun
		case *ast.SelectorExpr:
			e = of.X
		case *ast.Ident:
			return of.Name == "klog" || of.Name == "log" || of.Name == "logger"
		default:
			return false
		}
	}
}
