// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"fmt"
)

// Version is one of the two versions of a kind.
type Version string

// The two versions.
const (
	V1alpha1 Version = "v1alpha1"
	V1beta1  Version = "v1beta1"
)

// versions are all that there are.
var versions = []Version{V1alpha1, V1beta1}

// Conversion is that of a kind that is served in both versions.
type Conversion struct {
	// Group is its API group.
	Group string
	// Kind is its name.
	Kind string
	// Resource is the plural of the name, in lower case.
	Resource string
	// Stored is the version in which its CRD comes stored. With v1beta1 objects are in no other. With v1alpha1
	// they are in v1beta1 if a cluster has stored them so.
	Stored Version
	// Fields are those that are not the same in both versions.
	Fields []ConvertedField
	// NoRules are parts of the CEL rules of v1alpha1 that v1beta1 lacks, each of which no
	// other rule of the kind has.
	NoRules []string
	// NoColumns are the names of the columns that v1beta1 lacks.
	NoColumns []string
}

// ConvertedField is a field that one version alone has.
type ConvertedField struct {
	// In is the version that has it.
	In Version
	// Path is that of the field there.
	Path Path
	// Check says what is wrong with a value that an annotation holds. The API
	// server does not look at what a webhook made. An object that no client
	// can decode would stop every program that reads the kind.
	Check func(json.RawMessage) error
	// Schema is that of the field in v1beta1 (an OpenAPI schema, in JSON), if it
	// is not in the CRD.
	Schema string
	// Twin is the path at which the other version has what is the same, or comes nearest.
	// Nil: nowhere, and the field travels in annotations.
	Twin Path
	// Fits tells whether the twin can have a value of a field that has another name there. One that cannot travels in annotations.
	// Nil: it can have each.
	Fits func(value json.RawMessage) bool
	// CheckTwin is the check of what stood at the twin before, which travels in
	// annotations if the field hides it. Nil if nothing is hidden.
	CheckTwin func(json.RawMessage) error
	// Near returns what comes nearest to a value at the twin, nil if nothing
	// does; the value itself travels in annotations. It comes back as long as
	// no user has changed the twin: who changes that means the new value.
	// Without a function the twin is the field by another name.
	Near func(value json.RawMessage) (near any)
	// Void is what the field is if a user has written the twin: a value that says nothing. So a user who writes another twin changes
	// the field and takes nothing away. Server-side apply then reports a conflict with the manager that owns the field.
	Void any
}

// renamed says that the field has another name in the other version, and is the
// same otherwise.
func (f *ConvertedField) renamed() bool { return f.Twin != nil && f.Near == nil }

// kept are the paths of what annotations may hold of the field.
func (f *ConvertedField) kept() []Path {
	switch {
	case f.Near != nil:
		return []Path{f.Path, f.Twin}
	case f.renamed() && f.Fits == nil:
		return nil
	}
	return []Path{f.Path}
}

// Convert converts an object of the kind, a JSON document, to an API version
// such as apps.kruise.io/v1alpha1.
//
// It moves what the versions do not share and leaves the rest of the document unchanged.
// So fields too new for this code pass unharmed. What goes to the other version and comes
// back unchanged is what it was.
//
// An error names the part of the document that is not as it should be. It is no JSON object,
// not of the kind, or of an unknown version. Or an annotation does not hold what this
// function puts there, unless the object may be stored in its version. What is stored can be
// read, whatever its annotations hold: one object that cannot would keep all of its kind
// from being listed.
func (k *Conversion) Convert(object []byte, apiVersion string) ([]byte, error) {
	d, err := parseDocument(object)
	if err != nil {
		return nil, fmt.Errorf("want a %s as JSON: %w", k.Kind, err)
	}
	if kind := d.text("kind"); kind != k.Kind {
		return nil, fmt.Errorf("kind: want %s, got %q", k.Kind, kind)
	}
	return k.convertParsed(object, d, apiVersion)
}

// convertParsed converts an object that has been parsed and is of the kind.
func (k *Conversion) convertParsed(object []byte, d document, apiVersion string) ([]byte, error) {
	from, err := k.version(d.text("apiVersion"))
	if err != nil {
		return nil, err
	}
	to, err := k.version(apiVersion)
	if err != nil {
		return nil, err
	}
	if from == to {
		return object, nil
	}
	if err := k.convert(d, from, to); err != nil {
		return nil, err
	}
	d["apiVersion"] = apiVersion
	return json.Marshal(d)
}

// version returns the version that an apiVersion names.
func (k *Conversion) version(apiVersion string) (Version, error) {
	for _, v := range versions {
		if apiVersion == k.apiVersion(v) {
			return v, nil
		}
	}
	return "", fmt.Errorf("apiVersion: a %s has %s and %s, got %q", k.Kind, k.apiVersion(V1alpha1), k.apiVersion(V1beta1), apiVersion)
}

// mayBeStored tells whether objects may be stored in a version.
func (k *Conversion) mayBeStored(v Version) bool { return k.Stored == V1alpha1 || v == V1beta1 }

// sameFields tells whether both versions have the same fields, so that the API server can
// convert by itself.
func (k *Conversion) sameFields() bool { return len(k.Fields) == 0 }

func (k *Conversion) apiVersion(v Version) string { return k.Group + "/" + string(v) }

// convert moves fields between versions.
func (k *Conversion) convert(d document, from, to Version) error {
	returned, err := k.takeKept(d, from, to)
	if err != nil {
		return err
	}
	kept := document{}
	for i := range k.Fields {
		f := &k.Fields[i]
		if from == V1alpha1 { // what one way does last, the other one does first
			f = &k.Fields[len(k.Fields)-1-i]
		}
		switch {
		case f.renamed():
			err = rename(d, kept, returned, f, from)
		case f.Near != nil && f.In == from:
			err = show(d, kept, f, from == k.Stored)
		case f.Near != nil:
			err = recall(d, returned, f)
		case f.In == from:
			err = leave(d, kept, f, from == k.Stored)
		default:
			err = comeBack(d, returned, f)
		}
		if err != nil {
			return err
		}
	}
	return k.putKept(d, kept, from)
}
