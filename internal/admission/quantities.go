// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"regexp"
)

// extreme matches a JSON string that is nothing but a number with an exponent
// of four digits or more.
var extreme = regexp.MustCompile(`"([+-]?)([0-9]*\.?[0-9]*)[eE]([+-]?)[0-9]{4,}"`)

// What such numbers mean: a quantity is rounded up to one nano, and capped
// at the largest number of 64 bits.
const (
	smallest = "1n"
	largest  = "9223372036854775807"
)

// TameQuantities keeps numbers that no code can compute with out of the decoders. The API
// server stores a resource quantity such as "1e-100000000" in a pod template without
// looking at it. It would keep a decoder, and with it the cache of all objects of its
// kind, busy for hours.
//
// It replaces quantities with exponents beyond all use in JSON by what they mean,
// and leaves everything else unchanged: almost always, it returns raw itself.
func TameQuantities(raw []byte) []byte {
	if !mayBeExtreme(raw) || !extreme.Match(raw) {
		return raw
	}
	return extreme.ReplaceAllFunc(raw, func(found []byte) []byte {
		parts := extreme.FindSubmatch(found)
		sign, mantissa, exponentSign := string(parts[1]), parts[2], string(parts[3])
		meaning := largest
		if exponentSign == "-" {
			meaning = smallest
		}
		if len(bytes.Trim(mantissa, "0.")) == 0 {
			sign, meaning = "", "0"
		}
		if sign == "+" {
			sign = ""
		}
		return []byte(`"` + sign + meaning + `"`)
	})
}

// mayBeExtreme tells whether a string ends like such a number. Every object that a
// client reads is looked at, and this is many times as fast as the expression.
func mayBeExtreme(raw []byte) bool {
	for end := 0; ; end++ {
		next := bytes.IndexByte(raw[end:], '"')
		if next < 0 {
			return false
		}
		end += next
		digits := end
		for digits > 0 && '0' <= raw[digits-1] && raw[digits-1] <= '9' {
			digits--
		}
		if end-digits < 4 {
			continue
		}
		if digits > 0 && (raw[digits-1] == '+' || raw[digits-1] == '-') {
			digits--
		}
		if digits > 0 && (raw[digits-1] == 'e' || raw[digits-1] == 'E') {
			return true
		}
	}
}
