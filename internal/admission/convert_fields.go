// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"fmt"
)

// rename moves a field to its name in the other version, or to what is kept if that cannot have it. A field that has
// that name already is none of its version, and goes.
func rename(d, kept, returned document, f *ConvertedField, from Version) error {
	old, name := f.Path, f.Twin
	if f.In != from {
		old, name = name, old
	}
	value, err := takeField(d, old)
	if err == nil && value == nil && f.In != from && f.Fits != nil {
		value, err = returned.get(f.Path)
		if f.fits(value) { // it would stand at the twin, unless a user has taken it away
			value = nil
		}
	}
	switch {
	case value == nil || err != nil:
		return err
	case f.In == from && !f.fits(value):
		return kept.put(f.Path, value)
	}
	return d.put(name, value)
}

// fits is Fits of a value as a document holds it.
func (f *ConvertedField) fits(value any) bool {
	raw, _ := value.(json.RawMessage)
	return f.Fits == nil || raw != nil && f.Fits(raw)
}

// takeField removes a value. An object within metadata that is empty then goes, as the API server has none.
func takeField(d document, path Path) (any, error) {
	value, err := d.take(path)
	if value == nil || err != nil || path[0] != "metadata" {
		return value, err
	}
	parent, err := d.parent(path, false)
	if err == nil && len(parent) == 0 {
		_, err = d.take(path[:len(path)-1])
	}
	return value, err
}

// leave moves a field that the other version lacks to what is kept. A value that
// could not come back is an error, unless it is stored.
func leave(d, kept document, f *ConvertedField, stored bool) error {
	value, err := takeField(d, f.Path)
	if err == nil {
		err = f.comesBack(value, stored)
	}
	if value == nil || err != nil {
		return err
	}
	return kept.put(f.Path, value)
}

// comesBack says what is wrong with a value that is not stored, and could not be read from annotations.
func (f *ConvertedField) comesBack(value any, stored bool) error {
	raw, is := value.(json.RawMessage)
	if !is || stored {
		return nil
	}
	if err := f.Check(raw); err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	return nil
}

// comeBack puts a field in its place that has been kept. A field that is there already stays.
func comeBack(d, kept document, f *ConvertedField) error {
	value, err := kept.get(f.Path)
	if value == nil || err != nil {
		return err
	}
	if stands, err := d.get(f.Path); stands != nil || err != nil {
		return err
	}
	return d.put(f.Path, value)
}

// show puts what comes nearest to a field at its twin. The field, and what stood there, are kept unless the twin alone says the same.
func show(d, kept document, f *ConvertedField, stored bool) error {
	value, err := d.take(f.Path)
	if err == nil {
		err = f.comesBack(value, stored)
	}
	if err != nil {
		return err
	}
	twin, err := d.get(f.Twin)
	if value == nil && twin == nil || err != nil {
		return err
	}
	near := f.near(value)
	if value != nil && near == nil && twin != nil && sameJSON(value, f.Void) { // recall makes it void again
		return nil
	}
	if value == nil {
		value = json.RawMessage("null") // there was none
	}
	if err := kept.put(f.Path, value); err != nil || near == nil {
		return err
	}
	if twin != nil {
		if err := kept.put(f.Twin, twin); err != nil {
			return err
		}
	}
	return d.put(f.Twin, near)
}

// recall puts a field in its place that a twin stands for, and at the twin what stood there before:
//
//   - the twin is as show left it: both are what they were,
//   - a user has taken it away: the field goes too,
//   - a user has changed it, or written the first one: it stays, and the field is void.
func recall(d, returned document, f *ConvertedField) error {
	shown, err := d.take(f.Twin)
	if err != nil {
		return err
	}
	former, err := returned.get(f.Path)
	if err != nil {
		return err
	}
	value, twin, near := former, shown, f.near(former)
	switch {
	case near != nil && sameJSON(shown, near):
		twin, err = returned.get(f.Twin)
	case shown == nil && near != nil:
		value = nil
	case near != nil || former == nil && shown != nil:
		value = f.Void
	}
	if err == nil && !sameJSON(value, nil) {
		err = d.put(f.Path, value)
	}
	if err == nil && twin != nil {
		err = d.put(f.Twin, twin)
	}
	return err
}

// near is Near of a value as a document holds it.
func (f *ConvertedField) near(value any) any {
	raw, is := value.(json.RawMessage)
	if !is {
		return nil
	}
	return f.Near(raw)
}
