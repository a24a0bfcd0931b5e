// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	maxLength   = 1024 // bytes of an expression
	maxDepth    = 64   // of what is nested
	maxExponent = 18   // of a number such as 1e3
)

// Expression computes a quantity. Parse makes one. It may be used by many goroutines.
type Expression struct {
	text string
	root node
}

// String returns the expression as it was written.
func (e *Expression) String() string { return e.text }

// node is a part of an expression.
type node interface {
	// value computes the part for what the variable is.
	value(variable resource.Quantity) (number, error)
}

// Parse reads an expression over one variable, which is the name of a resource: cpu or memory. It returns an error that says what is wrong,
// and at which byte. (SCI-21, SCI-22)
func Parse(text, variable string) (*Expression, error) {
	if len(text) > maxLength {
		return nil, fmt.Errorf("the expression has %d bytes, and may have %d", len(text), maxLength)
	}
	p := &parser{rest: text, length: len(text), variable: variable}
	root, err := p.sum()
	if err == nil && p.peek() != 0 {
		err = fmt.Errorf("unexpected %q", p.rest)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to parse expression %q: %w, at byte %d", text, err, p.length-len(p.rest))
	}
	return &Expression{text: text, root: root}, nil
}

// parser reads an expression from the left.
type parser struct {
	rest     string
	length   int // of the whole
	depth    int
	variable string
}

// peek returns the next byte that is not white space; 0 at the end.
func (p *parser) peek() byte {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

// take drops a byte if it comes next.
func (p *parser) take(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *parser) sum() (node, error) {
	return p.row(p.product, "+-")
}

func (p *parser) product() (node, error) {
	return p.row(p.signed, "*/")
}

// row reads operands between which operators of one rank stand.
func (p *parser) row(operand func() (node, error), operators string) (node, error) {
	left, err := operand()
	for err == nil && p.peek() != 0 && strings.IndexByte(operators, p.peek()) >= 0 {
		operator := p.peek()
		p.take(operator)
		var right node
		if right, err = operand(); err == nil {
			left = operation{operator, left, right}
		}
	}
	return left, err
}

func (p *parser) signed() (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("more than %d parts are nested", maxDepth)
	}
	defer func() { p.depth-- }()
	if p.take('-') {
		operand, err := p.signed()
		return operation{'-', literal{number{value: new(big.Rat)}}, operand}, err
	}
	return p.operand()
}

func (p *parser) operand() (node, error) {
	switch c := p.peek(); {
	case c == 0:
		return nil, errors.New("unexpected end")
	case p.take('('):
		inner, err := p.sum()
		return inner, p.closed(err)
	case c >= '0' && c <= '9':
		n, err := p.number()
		return literal{n}, err
	case isLetter(c):
		return p.name()
	default:
		return nil, fmt.Errorf("unexpected %q", c)
	}
}

// closed wants a closing parenthesis, unless there is an error already.
func (p *parser) closed(err error) error {
	if err == nil && !p.take(')') {
		return errors.New("expected )")
	}
	return err
}

// name reads the variable, or a function with its two arguments.
func (p *parser) name() (node, error) {
	word := p.word(func(c byte) bool { return isLetter(c) || isDigit(c) })
	if p.peek() != '(' {
		if !strings.EqualFold(word, p.variable) {
			return nil, fmt.Errorf("undefined variable: %s", word)
		}
		return variable{}, nil
	}
	function := strings.ToLower(word)
	if function != "max" && function != "min" {
		return nil, fmt.Errorf("unknown function: %s", word)
	}
	p.take('(')
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	if !p.take(',') {
		return nil, fmt.Errorf("%s takes two arguments", function)
	}
	right, err := p.sum()
	return operation{function[1], left, right}, p.closed(err) // 'a' of max, 'i' of min
}

// word takes the bytes that belong to a word.
func (p *parser) word(belongs func(byte) bool) string {
	end := 0
	for end < len(p.rest) && belongs(p.rest[end]) {
		end++
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	return word
}

// number reads a number, a percentage or a quantity.
func (p *parser) number() (number, error) {
	text := p.word(func(c byte) bool { return isDigit(c) || c == '.' })
	exponent, err := p.exponent()
	if text += exponent; err != nil {
		return number{}, fmt.Errorf("%q: %w", text, err)
	}
	value, ok := new(big.Rat).SetString(text)
	if !ok || strings.HasSuffix(text, ".") {
		return number{}, fmt.Errorf("%q is no number", text)
	}
	if strings.HasPrefix(p.rest, "%") {
		p.rest = p.rest[1:]
		return number{value: value.Quo(value, big.NewRat(100, 1))}, nil
	}
	unit := p.word(func(c byte) bool { return isLetter(c) || isDigit(c) })
	if unit == "" {
		return number{value: value}, nil
	}
	factor, known := units[unit]
	if !known {
		return number{}, fmt.Errorf("unknown unit %q in %s%s: want one of m, k, M, G, T, P, Ki, Mi, Gi, Ti, Pi", unit, text, unit)
	}
	format := resource.DecimalSI
	if strings.HasSuffix(unit, "i") {
		format = resource.BinarySI
	}
	return number{value: value.Mul(value, factor), quantity: true, format: format}, nil
}

// exponent takes an exponent such as e3, if one stands there. The error is of one that is too large or too small.
func (p *parser) exponent() (string, error) {
	rest := strings.TrimLeft(p.rest, "eE")
	if len(p.rest)-len(rest) != 1 {
		return "", nil
	}
	digits := strings.TrimLeft(rest, "+-")
	end := 0
	for end < len(digits) && isDigit(digits[end]) {
		end++
	}
	if end == 0 || len(rest)-len(digits) > 1 {
		return "", nil
	}
	exponent := p.rest[:len(p.rest)-len(digits)+end]
	p.rest = p.rest[len(exponent):]
	if value, ok := new(big.Int).SetString(digits[:end], 10); !ok || value.CmpAbs(big.NewInt(maxExponent)) > 0 {
		return exponent, fmt.Errorf("the exponent must be from -%d to %d", maxExponent, maxExponent)
	}
	return exponent, nil
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// units are what a number of a quantity is multiplied by. (SCI-21)
var units = map[string]*big.Rat{
	"m": big.NewRat(1, 1000),
	"k": big.NewRat(1e3, 1), "M": big.NewRat(1e6, 1), "G": big.NewRat(1e9, 1), "T": big.NewRat(1e12, 1), "P": big.NewRat(1e15, 1),
	"Ki": big.NewRat(1<<10, 1), "Mi": big.NewRat(1<<20, 1), "Gi": big.NewRat(1<<30, 1), "Ti": big.NewRat(1<<40, 1), "Pi": big.NewRat(1<<50, 1),
}
