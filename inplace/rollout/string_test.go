// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
)

// What a plan does about pods, and what else if that is refused.
func ExampleStages_String() {
	named := func(name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"controller-revision-hash": "web-2"}}}
	}
	claims := []*corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data-web-0"}}}
	generated := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"}}

	stages := rollout.Stages{
		Stage: rollout.Stage{
			Create: []rollout.PodCreation{{Pod: named("web-0"), Claims: claims}, {Pod: generated}},
			Delete: []rollout.PodDeletion{{Pod: named("web-7"), For: rollout.DeleteForScale, DeleteClaims: claims}, {Pod: named("web-3"), For: rollout.DeleteForUpdate}},
			Patch:  []rollout.PodPatch{{Pod: named("web-1"), Kind: rollout.PatchRefresh, Patch: &podpatch.Patch{}}},
		},
		Otherwise: rollout.Stage{Patch: []rollout.PodPatch{
			{Pod: named("web-2"), Kind: rollout.PatchUpdateInPlace, Patch: &podpatch.Patch{}},
			{Pod: named("web-4"), Kind: rollout.PatchPrepare, Patch: &podpatch.Patch{}},
		}},
	}
	fmt.Println(stages)
	fmt.Printf("%q\n", rollout.Stages{})
	// Output:
	// create pod web-0 at revision web-2 with claims data-web-0
	// create pod web-*
	// delete pod web-7 (Scale) and claims data-web-0
	// delete pod web-3 (Update)
	// patch pod web-1 (Refresh)
	// if none of that succeeds:
	//   patch pod web-2 (UpdateInPlace)
	//   patch pod web-4 (Prepare)
	// ""
}
