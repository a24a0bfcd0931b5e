// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/distribution/conversion"
)

const (
	alpha = "apps.kruise.io/v1alpha1"
	beta  = "apps.kruise.io/v1beta1"
)

// IMG-1.7: nothing but the version changes.
func TestImages(t *testing.T) {
	for kind, convert := range map[string]func([]byte, string) ([]byte, error){
		"ImagePullJob": conversion.ImagePullJob, "ImageListPullJob": conversion.ImageListPullJob, "NodeImage": conversion.NodeImage,
	} {
		for _, versions := range [][2]string{{alpha, beta}, {beta, alpha}} {
			in := func(version string) string {
				return `{"apiVersion":"` + version + `","kind":"` + kind + `","metadata":{"name":"a","annotations":{"a":"b"}},"spec":{"pullSecrets":["s"],"new":1.50},"status":{"message":"x"}}`
			}
			got, err := convert([]byte(in(versions[0])), versions[1])
			if err != nil {
				t.Fatal(err)
			}
			var want, is any
			if err := json.Unmarshal([]byte(in(versions[1])), &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(got, &is); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, is); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", kind, versions[1], diff)
			}
		}
		if _, err := convert([]byte(`{"apiVersion":"`+alpha+`","kind":"CloneSet"}`), beta); err == nil || !strings.Contains(err.Error(), "kind: want "+kind) {
			t.Errorf("another kind: error %v", err)
		}
	}
}
