// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// KeptFieldsAnnotation is on a v1alpha1 StatefulSet that has fields which only
// v1beta1 knows. It holds them as JSON, in the places that they have in
// v1beta1:
//
//	{"spec":{"reserveOrdinals":[1]},"status":{"updatedReadyReplicas":3}}
//
// It exists in that version only, where an object has such fields, and is not
// meant to be edited. On a v1beta1 object it has no meaning and is dropped when
// the object is converted.
const KeptFieldsAnnotation = "podwright.github.io/v1beta1-fields"

const (
	alpha = v1alpha1.GroupName + "/v1alpha1"
	beta  = v1beta1.GroupName + "/v1beta1"
)

// StatefulSet converts a StatefulSet, a JSON document, to the version
// apps.kruise.io/v1alpha1 or apps.kruise.io/v1beta1.
//
// It moves the fields that only one version has and leaves the rest of the
// document as it stands, so that fields too new for this code pass unharmed.
// What goes to v1alpha1 and comes back unchanged is what it was; so is what goes
// to v1beta1 and comes back.
//
// An error names the part of the document that is not as it should be: it is no
// JSON object, no StatefulSet, of an unknown version, or KeptFieldsAnnotation
// does not hold what this function puts there.
func StatefulSet(object []byte, apiVersion string) ([]byte, error) {
	set, err := parse(object)
	if err != nil {
		return nil, fmt.Errorf("want a StatefulSet as JSON: %w", err)
	}
	if kind := set.text("kind"); kind != "StatefulSet" {
		return nil, fmt.Errorf("kind: want StatefulSet, got %q", kind)
	}
	for _, version := range []string{set.text("apiVersion"), apiVersion} {
		if version != alpha && version != beta {
			return nil, fmt.Errorf("apiVersion: a StatefulSet has %s and %s, got %q", alpha, beta, version)
		}
	}
	if set.text("apiVersion") == apiVersion {
		return object, nil
	}
	switch apiVersion {
	case alpha:
		err = toV1alpha1(set)
	case beta:
		err = toV1beta1(set)
	}
	if err != nil {
		return nil, err
	}
	set["apiVersion"] = apiVersion
	return json.Marshal(set)
}

// toV1alpha1 moves the fields that v1alpha1 lacks into the annotation.
func toV1alpha1(set document) error {
	kept := document{}
	for _, name := range []string{"spec", "status"} {
		section, err := set.object(name)
		if err != nil {
			return err
		}
		moved := document{}
		for field, value := range section {
			if onlyInV1beta1(name, field) != nil {
				moved[field] = value
				delete(section, field)
			}
		}
		if len(moved) > 0 {
			set[name], kept[name] = section, moved
		}
	}
	return putKept(set, kept)
}

// toV1beta1 moves the fields of the annotation back.
func toV1beta1(set document) error {
	kept, err := takeKept(set)
	if err != nil {
		return err
	}
	for name, fields := range kept {
		section, err := set.object(name)
		if err != nil {
			return err
		}
		maps.Copy(fields, section) // a field that stands where it belongs wins
		set[name] = fields
	}
	return nil
}
