// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// judgeStranger: no controller deletes or writes what does not belong to a workload, but for its status.
func (j *Judge) judgeStranger(v *verdict, c Change) {
	if c.New == nil {
		v.expect(false, invariants.Ownership, "it is gone")
		return
	}
	if c.Old == nil {
		return
	}
	v.expect(equality.Semantic.DeepEqual(metadata(c.Old), metadata(c.New)), invariants.Ownership,
		"its metadata were %+v and are %+v", metadata(c.Old), metadata(c.New))
	if pod, is := c.New.(*corev1.Pod); is {
		was := c.Old.(*corev1.Pod)
		v.expect(equality.Semantic.DeepEqual(was.Spec, j.ofControllers(was, pod, v.gap).Spec), invariants.Ownership, "its spec has changed")
	}
}

// metadata are those that no controller has a reason to write for another owner.
func metadata(object metav1.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: object.GetName(), UID: object.GetUID(), Labels: object.GetLabels(),
		OwnerReferences: object.GetOwnerReferences(), DeletionTimestamp: object.GetDeletionTimestamp(),
	}
}
