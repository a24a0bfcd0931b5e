// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/workloads/conversion"
)

const (
	alpha = "apps.kruise.io/v1alpha1"
	beta  = "apps.kruise.io/v1beta1"
)

// kept are the annotations of a v1alpha1 object with nothing but those that keep the given parts of fields. The key of one
// names the place of the value in the part.
func kept(parts ...string) string {
	annotations := map[string]string{}
	for _, part := range parts {
		var at any
		if err := json.Unmarshal([]byte(part), &at); err != nil {
			panic(err)
		}
		var path []string
		for object, is := at.(map[string]any); is && len(object) == 1; object, is = at.(map[string]any) {
			for name, below := range object {
				path, at = append(path, name), below
			}
		}
		annotations[conversion.KeptFieldsPrefix+strings.Join(path, ".")] = part
	}
	return encode(annotations)
}

// former are the annotations of a v1alpha1 object with nothing but the one in which former releases kept all fields.
func former(fields string) string {
	return encode(map[string]string{conversion.KeptFieldsAnnotation: fields})
}

func encode(annotations map[string]string) string {
	encoded, err := json.Marshal(annotations)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

// ofKind is an object of a kind in a version, with the given further fields.
func ofKind(kind, version, fields string) string {
	return `{"apiVersion":"` + version + `","kind":"` + kind + `",` + fields + `}`
}

// byKind are the conversions.
var byKind = map[string]conformance.Convert{
	"StatefulSet": conversion.StatefulSet, "DaemonSet": conversion.DaemonSet, "BroadcastJob": conversion.BroadcastJob, "AdvancedCronJob": conversion.AdvancedCronJob,
}

// TestConversions shows what objects are in another version, in testdata/conversions: see conformance.PlayConversions.
func TestConversions(t *testing.T) { conformance.PlayConversions(t, "testdata/conversions", byKind) }
