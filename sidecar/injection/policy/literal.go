// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxInt is the largest whole number that survives a JSON patch of a policy, in which
// numbers are floating-point ones.
const maxInt = 1<<53 - 1

// text is a CEL literal of a string.
func text(s string) string { return strconv.QuoteToASCII(s) }

// texts is a CEL literal of a list of strings.
func texts(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = text(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// literal is a CEL literal of the JSON of a value.
func literal(value any) (string, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return "", err
	}
	var b strings.Builder
	err = write(&b, tree)
	return b.String(), err
}

// write writes a literal. Kubernetes' CEL wants all elements of a list or a map to be of
// one type: dyn makes them so.
func write(b *strings.Builder, value any) error {
	switch v := value.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case string:
		b.WriteString(text(v))
	case json.Number:
		n, err := v.Int64()
		if err != nil || n > maxInt || n < -maxInt {
			return fmt.Errorf("the number %s is none that a policy can write: want a whole one of at most 53 bits", v)
		}
		b.WriteString(v.String())
	case []any:
		b.WriteByte('[')
		for i, element := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			if err := writeDyn(b, element); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(text(key) + ": ")
			if err := writeDyn(b, v[key]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	}
	return nil
}

func writeDyn(b *strings.Builder, value any) error {
	b.WriteString("dyn(")
	err := write(b, value)
	b.WriteByte(')')
	return err
}
