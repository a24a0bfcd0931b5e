// SPDX-License-Identifier: Apache-2.0

package invariants_test

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/faults/invariants"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// A CloneSet of one pod gets two of them.
func ExampleJudge() {
	judge := invariants.NewJudge()
	see := func(object metav1.Object) {
		for _, violation := range judge.See([]invariants.Change{{New: object}}, false) {
			fmt.Println(violation.Invariant)
		}
	}
	set := &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "1", Generation: 1}}
	set.Spec.Replicas = new(int32(1))
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	see(set)
	for _, name := range []string{"web-abcde", "web-fghij"} {
		see(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name),
			Labels:          map[string]string{"app": "web", v1alpha1.CloneSetInstanceIDLabel: strings.TrimPrefix(name, "web-")},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, v1alpha1.SchemeGroupVersion.WithKind("CloneSet"))},
		}})
	}
	// Output: surge
}
