// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// noon is when all plans are made, unless a case says otherwise.
var noon = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

// at is a time before noon.
func at(before time.Duration) metav1.Time { return metav1.NewTime(noon.Add(-before)) }

// node is the node n1 that has had a readiness for a time.
func node(ready corev1.ConditionStatus, since time.Duration) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"zone": "one"}},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse},
			{Type: corev1.NodeReady, Status: ready, LastTransitionTime: at(since), LastHeartbeatTime: at(0)},
		}},
	}
}

// nodeImage is that of the node n1.
func nodeImage() *v1alpha1.NodeImage {
	return &v1alpha1.NodeImage{ObjectMeta: metav1.ObjectMeta{
		Name: "n1", UID: "n1-uid", ResourceVersion: "3", Labels: map[string]string{"zone": "one"}}}
}

// job returns a job that wants nginx:1, in the namespace before the slash if there is one; its UID is its name and "-uid".
func job(name string) *v1alpha1.ImagePullJob {
	namespace, short, is := strings.Cut(name, "/")
	if !is {
		namespace, short = "default", name
	}
	return &v1alpha1.ImagePullJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: short, UID: types.UID(short + "-uid")},
		Spec:       v1alpha1.ImagePullJobSpec{Image: "nginx:1"},
	}
}

// snapshot has a ready node.
func snapshot(n *v1alpha1.NodeImage, jobs ...*v1alpha1.ImagePullJob) *Snapshot {
	s := &Snapshot{Node: node(corev1.ConditionTrue, time.Hour), NodeImage: n, Jobs: map[types.UID]*v1alpha1.ImagePullJob{}, Now: noon}
	for _, j := range jobs {
		s.Jobs[j.UID] = j
	}
	return s
}
