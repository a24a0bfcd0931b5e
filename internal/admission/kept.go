// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Decodes returns a check of values that are to be of a Go type.
func Decodes[T any]() func(json.RawMessage) error {
	return func(value json.RawMessage) error { return utiljson.Unmarshal(value, new(T)) }
}

// former is the key of the annotation in which former releases of podwright kept all fields of the version together. It is
// read, and never written. Server-side apply merges an annotation as a whole, so that fields in one could not be taken away
// one by one.
func (v Version) former() string { return "podwright.github.io/" + string(v) + "-fields" }

// prefix is that of the keys of the annotations that an object in the other version has for fields that this one alone has. Each
// holds one part of a field: an object, empty, or a value within one, as JSON, in its place in this version. So the
// field managers of what it holds are those of the part itself. On an object of this version they have no meaning and are
// dropped by a conversion.
func (v Version) prefix() string { return string(v) + "-fields.podwright.github.io/" }

// keptKeys are the keys of the annotations that keep fields of a version, the former one first: what the others say counts.
func keptKeys[T any](annotations map[string]T, of Version) (keys []string) {
	for key := range annotations {
		if key == of.former() || strings.HasPrefix(key, of.prefix()) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys) // "podwright" is before "v1"
	return keys
}

// Kept returns the value that annotations of an object in the other version keep of a field. It is nil if they keep none, or
// are not as they should be.
func (k *Conversion) Kept(annotations map[string]string, in Version, path Path) json.RawMessage {
	whole := document{}
	for _, key := range keptKeys(annotations, in) {
		if kept, err := k.parseKept(annotations[key], in); err == nil {
			whole.merge(kept)
		}
	}
	value, err := whole.get(path)
	if value == nil || err != nil {
		return nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return raw
}

// putKept makes the annotations of an object hold exactly the given fields of a version.
func (k *Conversion) putKept(d, kept document, of Version) error {
	if err := dropAnnotations(d, func(annotations document) {
		for _, key := range keptKeys(annotations, of) {
			delete(annotations, key)
		}
	}); err != nil {
		return err
	}
	for i := range k.Fields {
		if k.Fields[i].In != of {
			continue
		}
		for _, path := range k.Fields[i].kept() {
			value, err := kept.get(path)
			if err == nil && value != nil {
				err = putParts(d, path, value, of)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// putParts puts the parts of a value into annotations.
func putParts(d document, path Path, value any, of Version) error {
	object := asObject(value)
	if object != nil {
		value = document{}
	}
	part := document{}
	if err := part.put(path, value); err != nil {
		return err
	}
	text, err := json.Marshal(part)
	if err == nil {
		err = d.put(Path{"metadata", "annotations", of.prefix() + partName(path)}, string(text))
	}
	for key, below := range object {
		if err == nil {
			err = putParts(d, append(slices.Clone(path), key), below, of)
		}
	}
	return err
}

// plainName is a name of a field that can stand in the key of an annotation, between dots.
var plainName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?$`)

// partName is the name, in the key of an annotation, of what stands at a path. It is the path, or a hash of one that cannot
// stand there.
func partName(path Path) string {
	const longest = 63
	name := path.String()
	if len(name) <= longest && !slices.ContainsFunc(path, func(name string) bool { return !plainName.MatchString(name) }) {
		return name
	}
	sum := sha256.Sum256([]byte(strings.Join(path, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// takeKept removes the annotations that keep fields of a version and returns what they hold. A
// bad one is an error, or stays unchanged if objects may be stored in the version from which
// it is converted.
func (k *Conversion) takeKept(d document, from, of Version) (whole document, err error) {
	whole = document{}
	dropped := dropAnnotations(d, func(annotations document) {
		for _, key := range keptKeys(annotations, of) {
			kept, wrong := k.parseAnnotation(annotations[key], of)
			switch {
			case wrong == nil:
				whole.merge(kept)
				delete(annotations, key)
			case !k.mayBeStored(from) && err == nil:
				err = fmt.Errorf("metadata.annotations[%s]: %w; remove the annotation, or put back what was read", key, wrong)
			}
		}
	})
	return whole, cmp.Or(dropped, err)
}

// dropAnnotations has a function remove annotations of an object. If none is left, the API server has no object of them either.
func dropAnnotations(d document, remove func(annotations document)) error {
	path := Path{"metadata", "annotations"}
	annotations, err := d.parent(append(path, ""), false)
	if len(annotations) == 0 || err != nil {
		return err
	}
	remove(annotations)
	if len(annotations) == 0 {
		_, err = d.take(path)
	}
	return err
}

// parseAnnotation reads an annotation of an object as it stands in the document.
func (k *Conversion) parseAnnotation(value any, of Version) (document, error) {
	raw, _ := value.(json.RawMessage)
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, fmt.Errorf("want a string, got %s", typeName(raw))
	}
	return k.parseKept(text, of)
}

// parseKept reads what an annotation holds.
func (k *Conversion) parseKept(text string, of Version) (document, error) {
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
		if f.In != of {
			continue
		}
		switch i := slices.IndexFunc(f.kept(), func(kept Path) bool { return slices.Equal(kept, path) }); i {
		case 0:
			return f.Check
		case 1:
			return f.CheckTwin
		}
	}
	return nil
}

// knowsBelow tells whether the annotation may hold a value below a path.
func (k *Conversion) knowsBelow(path Path, of Version) bool {
	return slices.ContainsFunc(k.Fields, func(f ConvertedField) bool {
		return f.In == of && len(f.kept()) > 0 && len(f.Path) > len(path) && slices.Equal(f.Path[:len(path)], path)
	})
}
