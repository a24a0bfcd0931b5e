// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/controller"
)

// What the API lets any user change: of the metadata of any object, beside its
// owners, and of pods, beside their metadata.
const (
	Metadata = `^\.ObjectMeta\.(ResourceVersion|Generation|Deletion|Labels|Annotations|Finalizers|ManagedFields)`
	OfPods   = `^\.Spec\.(NodeName|ActiveDeadlineSeconds|Tolerations|TerminationGracePeriodSeconds|SchedulingGates)` +
		`|^\.Spec\.(Init)?Containers\[\]\.(Image$|Resources)|^\.Status`
)

// Declared tells whether a change is one of declared fields.
func Declared[T any](fields controller.Fields) func(before, after *T) bool {
	return func(before, after *T) bool { return controller.Changed(object(before), object(after), fields) != 0 }
}

func object[T any](o *T) metav1.Object { return any(o).(metav1.Object) }

// checkWorkload checks that every change of a workload matters that changes its plan, which of describes. It also
// checks that a change of the status alone is known as one.
func checkWorkload[T any](t *testing.T, workload *T, deepCopy func(*T) *T, of func(*T) string) {
	t.Helper()
	Plan[T]{
		Copy: deepCopy, Of: of, Can: regexp.MustCompile(strings.Replace(Metadata, "ResourceVersion|", "", 1)),
		Matters: Declared[T](controller.Workload &^ controller.Status),
	}.Check(t, Reads{}, workload)
	for _, m := range Of(workload) {
		if !strings.HasPrefix(m.Path, ".Status") {
			continue
		}
		after := deepCopy(workload)
		m.Apply(after)
		object(after).SetResourceVersion(object(workload).GetResourceVersion() + "0")
		if controller.Changed(object(workload), object(after), controller.Workload) != controller.Status {
			t.Errorf("a change of %s alone is taken for more than one of the status", m.Path)
		}
	}
}

// CheckNodes checks that each change of a node that changes a plan is one of declared fields. of describes the plan for
// the changed nodes. CheckNodes also checks that what heartbeats write changes no plan.
func CheckNodes(t *testing.T, reads Reads, nodes []*corev1.Node, declared controller.Fields, of func([]*corev1.Node) string) {
	t.Helper()
	Plan[corev1.Node]{
		Copy: (*corev1.Node).DeepCopy, Can: regexp.MustCompile(Metadata + `|^\.(Spec|Status)`), Matters: Declared[corev1.Node](declared),
	}.CheckEach(t, reads, "nodes", nodes, of)
	for _, unread := range []string{".Status.Conditions", ".Status.Images", ".ObjectMeta.Annotations[new]", ".Status.Capacity[new]"} {
		if reads[unread] {
			t.Errorf("%s is read: heartbeats write it", unread)
		}
	}
}
