// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/workloads/conversion"
)

const (
	alpha = "apps.kruise.io/v1alpha1"
	beta  = "apps.kruise.io/v1beta1"
)

// kept are the annotations of a v1alpha1 object with nothing but those that keep fields: each by its path, and the value in JSON.
func kept(fields ...[2]string) string {
	annotations := map[string]string{}
	for _, field := range fields {
		part := field[1]
		for _, name := range slices.Backward(strings.Split(field[0], ".")) {
			part = `{"` + name + `":` + part + `}`
		}
		annotations[conversion.KeptFieldsPrefix+field[0]] = part
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
