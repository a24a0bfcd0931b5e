// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Decodes returns a check of values that are to be of a Go type.
func Decodes[T any]() func(json.RawMessage) error {
	return func(value json.RawMessage) error { return utiljson.Unmarshal(value, new(T)) }
}

// Kept returns the value that the annotation of an object keeps of a field of
// another version. It is nil if it keeps none, or is not as it should be.
func Kept(annotations map[string]string, in Version, path Path) json.RawMessage {
	text, found := annotations[in.annotation()]
	if !found {
		return nil
	}
	kept, err := parseDocument([]byte(text))
	if err != nil {
		return nil
	}
	value, err := kept.get(path)
	if err != nil {
		return nil
	}
	raw, _ := value.(json.RawMessage)
	return raw
}

// putKept makes the annotation of an object hold exactly the given fields of a
// version; without any there is no annotation.
func (k *Conversion) putKept(d, kept document, of Version) error {
	if len(kept) == 0 {
		_, err := exchange(d, of.annotation(), nil)
		return err
	}
	text, err := json.Marshal(kept)
	if err == nil {
		_, err = exchange(d, of.annotation(), string(text))
	}
	return err
}

// takeKept removes the annotation that keeps the fields of a version and returns
// them. One that is not as it should be is an error, or stays unchanged if objects
// may be stored in the version from which it is converted.
func (k *Conversion) takeKept(d document, from, of Version) (document, error) {
	text, err := exchange(d, of.annotation(), nil)
	if text == nil || err != nil {
		return nil, err
	}
	kept, err := k.parseKept(text.(json.RawMessage), of)
	switch {
	case err == nil:
		return kept, nil
	case k.mayBeStored(from):
		_, err := exchange(d, of.annotation(), text)
		return nil, err
	}
	return nil, fmt.Errorf("metadata.annotations[%s]: %w; remove the annotation, or put back what was read", of.annotation(), err)
}

// exchange puts a value into an annotation, or removes the annotation if the
// value is nil, and returns what it was: nil if there was none.
func exchange(d document, key string, value any) (former any, err error) {
	path := Path{"metadata", "annotations", key}
	if value != nil {
		if former, err = d.get(path); err == nil {
			err = d.put(path, value)
		}
		return former, err
	}
	if former, err = d.take(path); former == nil || err != nil {
		return nil, err
	}
	if annotations, err := d.parent(path, false); len(annotations) > 0 || err != nil {
		return former, err
	}
	_, err = d.take(path[:2])
	return former, err
}

func (k *Conversion) parseKept(value json.RawMessage, of Version) (document, error) {
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return nil, fmt.Errorf("want a string, got %s", typeName(value))
	}
	kept, err := parseDocument([]byte(text))
	if err != nil {
		return nil, err
	}
	return kept, k.check(kept, nil, of)
}

// check says which value below a path has no place in the annotation, or is not
// of its type.
func (k *Conversion) check(at document, below Path, of Version) error {
	for _, key := range slices.Sorted(maps.Keys(at)) {
		path := append(slices.Clone(below), key)
		value, _ := at[key].(json.RawMessage)
		if check := k.checkOf(path, of); check != nil {
			if err := check(value); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			continue
		}
		object, err := at.object(key)
		if err == nil {
			err = k.check(object, path, of)
		} else if k.knowsBelow(path, of) {
			err = within(below, err)
		} else {
			err = fmt.Errorf("%s is no field that only %s has", path, of)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkOf returns the check of a value that the annotation may hold at a path: of
// a field, or of what stood at its twin.
func (k *Conversion) checkOf(path Path, of Version) func(json.RawMessage) error {
	for _, f := range k.Fields {
		if f.In != of || f.renamed() {
			continue
		}
		if slices.Equal(f.Path, path) {
			return f.Check
		}
		if slices.Equal(f.Twin, path) {
			return f.CheckTwin
		}
	}
	return nil
}

// knowsBelow tells whether the annotation may hold a value below a path.
func (k *Conversion) knowsBelow(path Path, of Version) bool {
	return slices.ContainsFunc(k.Fields, func(f ConvertedField) bool {
		return f.In == of && !f.renamed() && len(f.Path) > len(path) && slices.Equal(f.Path[:len(path)], path)
	})
}
