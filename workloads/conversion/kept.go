// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"encoding/json"
	"fmt"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// onlyInV1beta1 returns an empty value of the type of a field that v1alpha1
// lacks, and nil for every other field.
func onlyInV1beta1(section, field string) any {
	switch section + "." + field {
	case "spec.lifecycle":
		return &lifecyclev1alpha1.Lifecycle{}
	case "spec.persistentVolumeClaimRetentionPolicy":
		return &v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{}
	case "spec.reserveOrdinals":
		return &[]int{}
	case "spec.scaleStrategy":
		return &v1beta1.StatefulSetScaleStrategy{}
	case "status.updatedReadyReplicas":
		return new(int32)
	}
	return nil
}

// putKept makes the annotation hold exactly the given sections; without any
// there is no annotation.
func putKept(set, kept document) error {
	var text []byte
	if len(kept) > 0 {
		var err error
		if text, err = json.Marshal(kept); err != nil {
			return err
		}
	}
	_, err := exchange(set, string(text))
	return err
}

// takeKept removes the annotation and returns the sections that it holds. It
// lets no field through whose type is wrong: the API server does not look at
// what a webhook made, and an object that no client can decode would stop every
// program that reads the kind.
func takeKept(set document) (map[string]document, error) {
	text, err := exchange(set, "")
	if text == nil || err != nil {
		return nil, err
	}
	kept, err := parseKept(text)
	if err != nil {
		return nil, fmt.Errorf("metadata.annotations[%s]: %w; remove the annotation, or put back what was read", KeptFieldsAnnotation, err)
	}
	return kept, nil
}

// exchange puts a text into the annotation, or removes the annotation where the
// text is empty, and returns what it was: nil where there was none.
func exchange(set document, text string) (former json.RawMessage, err error) {
	metadata, err := set.object("metadata")
	if err != nil {
		return nil, err
	}
	annotations, err := metadata.object("annotations")
	if err != nil {
		return nil, fmt.Errorf("metadata.%w", err)
	}
	former, _ = annotations[KeptFieldsAnnotation].(json.RawMessage)
	if former == nil && text == "" {
		return nil, nil
	}
	if metadata == nil {
		metadata = document{}
	}
	if annotations == nil {
		annotations = document{}
	}
	delete(annotations, KeptFieldsAnnotation)
	if text != "" {
		annotations[KeptFieldsAnnotation] = text
	}
	metadata["annotations"] = annotations
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	set["metadata"] = metadata
	return former, nil
}

func parseKept(value json.RawMessage) (map[string]document, error) {
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return nil, fmt.Errorf("want a string, got %s", typeName(value))
	}
	sections, err := parse([]byte(text))
	if err != nil {
		return nil, err
	}
	kept := map[string]document{}
	for name := range sections {
		fields, err := sections.object(name)
		if err != nil {
			return nil, err
		}
		if err := checkFields(name, fields); err != nil {
			return nil, err
		}
		if len(fields) > 0 {
			kept[name] = fields
		}
	}
	return kept, nil
}

// checkFields says which field of a section has no place in the annotation, or
// is not of its type.
func checkFields(section string, fields document) error {
	for field, value := range fields {
		typed := onlyInV1beta1(section, field)
		if typed == nil {
			return fmt.Errorf("%s.%s is no field that only v1beta1 has", section, field)
		}
		raw, _ := value.(json.RawMessage)
		if err := utiljson.Unmarshal(raw, typed); err != nil {
			return fmt.Errorf("%s.%s: %w", section, field, err)
		}
	}
	return nil
}
