// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"errors"
	"fmt"
	"math/big"

	"k8s.io/apimachinery/pkg/api/resource"
)

// number is a number, or a quantity: the value of a part of an expression. (SCI-23)
type number struct {
	value    *big.Rat
	quantity bool
	format   resource.Format // of a quantity
}

var thousand = big.NewRat(1000, 1)

// cut drops what is below a thousandth. A quantity that comes out of an operation is cut.
func (n number) cut() number {
	scaled := new(big.Rat).Mul(n.value, thousand)
	whole := new(big.Int).Quo(scaled.Num(), scaled.Denom()) // towards zero
	n.value = new(big.Rat).SetFrac(whole, big.NewInt(1000))
	return n
}

// asQuantity makes a quantity of a number, in the format of another one.
func (n number) asQuantity(like number) number {
	if n.quantity {
		return n
	}
	n.quantity, n.format = true, like.format
	return n.cut()
}

type literal struct{ number }

func (l literal) value(resource.Quantity) (number, error) { return l.number, nil }

// maxScale bounds the power of ten in a quantity: 1e1000000000 is one too.
const maxScale = 30

type variable struct{}

func (variable) value(v resource.Quantity) (number, error) {
	dec := v.AsDec()
	if dec.Scale() > maxScale || dec.Scale() < -maxScale {
		return number{}, fmt.Errorf("nothing can be computed with a quantity of 10^%d", -dec.Scale())
	}
	value := new(big.Rat).SetInt(dec.UnscaledBig())
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(dec.Scale(), -dec.Scale()))), nil)
	if dec.Scale() > 0 {
		value.Quo(value, new(big.Rat).SetInt(scale))
	} else {
		value.Mul(value, new(big.Rat).SetInt(scale))
	}
	return number{value: value, quantity: true, format: v.Format}, nil
}

// operation is two operands and what is done with them: + - * /, 'a' for max and 'i' for min.
type operation struct {
	operator    byte
	left, right node
}

func (o operation) value(variable resource.Quantity) (number, error) {
	left, err := o.left.value(variable)
	if err != nil {
		return number{}, err
	}
	right, err := o.right.value(variable)
	if err != nil {
		return number{}, err
	}
	switch o.operator {
	case '*':
		return multiply(left, right)
	case '/':
		return divide(left, right)
	}
	if left.quantity || right.quantity {
		left, right = left.asQuantity(right), right.asQuantity(left)
	}
	out := number{quantity: left.quantity, format: left.format}
	switch larger := left.value.Cmp(right.value) >= 0; {
	case o.operator == '+':
		out.value = new(big.Rat).Add(left.value, right.value)
	case o.operator == '-':
		out.value = new(big.Rat).Sub(left.value, right.value)
	case larger == (o.operator == 'a'):
		return left, nil
	default:
		return right, nil
	}
	return bounded(out)
}

func multiply(left, right number) (number, error) {
	if left.quantity && right.quantity {
		return number{}, errors.New("multiplication of two quantities")
	}
	out := number{value: new(big.Rat).Mul(left.value, right.value), quantity: left.quantity || right.quantity, format: left.format + right.format}
	if out.quantity {
		out = out.cut()
	}
	return bounded(out)
}

func divide(left, right number) (number, error) {
	switch {
	case right.quantity:
		return number{}, errors.New("division by quantity")
	case right.value.Sign() == 0:
		return number{}, errors.New("division by zero")
	}
	out := number{value: new(big.Rat).Quo(left.value, right.value), quantity: left.quantity, format: left.format}
	if out.quantity {
		out = out.cut()
	}
	return bounded(out)
}

// largest bounds what is computed: about an exabyte.
var largest = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 60))

// bounded refuses what no node can have, before it grows further.
func bounded(n number) (number, error) {
	if new(big.Rat).Abs(n.value).Cmp(largest) > 0 {
		return number{}, errors.New("a value is beyond 2^60")
	}
	return n, nil
}

// Evaluate computes the expression for a value of its variable. A result that is a plain number is cut to thousandths, of memory to
// whole bytes (whole). It returns an error for a negative result, and for an operation that quantities do not have. (SCI-23, SCI-24)
func (e *Expression) Evaluate(variable resource.Quantity, whole bool) (resource.Quantity, error) {
	result, err := e.root.value(variable)
	if err != nil {
		return resource.Quantity{}, fmt.Errorf("failed to evaluate expression %q: %w", e.text, err)
	}
	plain := !result.quantity
	result = result.asQuantity(number{format: variable.Format}).cut()
	thousandths := new(big.Int).Set(new(big.Rat).Mul(result.value, thousand).Num()) // its denominator is 1
	if plain && whole {
		thousandths.Sub(thousandths, new(big.Int).Rem(thousandths, big.NewInt(1000)))
	}
	if thousandths.Sign() < 0 {
		return resource.Quantity{}, fmt.Errorf("failed to evaluate expression %q: calculation result is negative: %sm", e.text, thousandths)
	}
	if result.format == "" {
		result.format = resource.DecimalSI
	}
	if unit, rest := new(big.Int).QuoRem(thousandths, big.NewInt(1000), new(big.Int)); rest.Sign() == 0 {
		return *resource.NewQuantity(unit.Int64(), result.format), nil
	}
	if !thousandths.IsInt64() {
		return resource.Quantity{}, fmt.Errorf("failed to evaluate expression %q: %sm is too much", e.text, thousandths)
	}
	return *resource.NewMilliQuantity(thousandths.Int64(), resource.DecimalSI), nil
}
