// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// IMG-1.13: jobs of three namespaces give a node tasks, one after the other, until it takes no more of any. Whatever names and
// secrets they have, the API server can store the NodeImage, with the longest messages of all tasks. The last namespace has
// had room, too.
func TestRoomOfANode(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, test := range []struct {
		name, spec string
		image      func(i int) string
	}{
		{"tags of an image", "", func(i int) string { return fmt.Sprint("nginx:", i) }},
		{"images", "", func(i int) string { return fmt.Sprintf("nginx-%d:1", i) }},
		{"digests", "", func(i int) string { return fmt.Sprintf("nginx@sha256:%064d", i) }},
		{"long names", "", func(i int) string { return fmt.Sprintf("%s/%s:%d", long[:190], long[:30], i) }},
		{"secrets", "pullSecrets: [" + long + ", b, c, d]", func(i int) string { return fmt.Sprintf("nginx-%d:1", i) }},
		{"sandboxes", "sandboxConfig: {annotations: {a: " + strings.Repeat("y", 10000) + "}}", func(i int) string { return fmt.Sprintf("nginx-%d:1", i) }},
	} {
		n, before := nodeImage("a"), 0
		for _, namespace := range []string{"first", "second", "third"} {
			var refused *Plan
			for i := 0; i < 5000 && refused == nil; i++ {
				job := newJob(t, test.spec)
				job.Namespace, job.Name, job.UID = namespace, fmt.Sprint("pull-", i), types.UID(fmt.Sprintf("%s-%029d", namespace, i))
				job.Spec.Image = fmt.Sprint(namespace, "/", test.image(i))
				s := snapshot(job, n)
				s.Looks = map[string]Look{}
				for _, name := range job.Spec.PullSecrets {
					s.Looks[name] = Look{At: noon}
				}
				plan := NewPlan(s)
				if len(plan.Assign) == 0 {
					refused = plan
					break
				}
				if n.Spec.Images == nil {
					n.Spec.Images = map[string]v1alpha1.ImageSpec{}
				}
				n.Spec.Images[plan.Assign[0].Name] = plan.Assign[0].Image
			}
			rule := refused.Waiting[0].Reason.Rule
			if rule != ruleNodeImageFull && rule != ruleTooManyImages || rule == ruleNodeImageFull && refused.RequeueAfter <= 0 {
				t.Errorf("%s: waiting %v, again in %s", test.name, refused.Waiting, refused.RequeueAfter)
			}
			tasks := 0
			for _, image := range n.Spec.Images {
				tasks += len(image.Tags)
			}
			if tasks == before && rule == ruleNodeImageFull {
				t.Errorf("%s: namespace %s has no room", test.name, namespace)
			}
			before = tasks
		}
		n.Status.ImageStatuses = map[string]v1alpha1.ImageStatus{}
		for name, image := range n.Spec.Images {
			var status v1alpha1.ImageStatus
			for _, task := range image.Tags {
				status.Tags = append(status.Tags, v1alpha1.ImageTagStatus{Tag: task.Tag, Phase: v1alpha1.ImagePhaseFailed, Version: 1,
					StartTime: at(0), CompletionTime: at(0), Message: strings.Repeat("m", 800)})
			}
			n.Status.ImageStatuses[name] = status
		}
		data, err := json.Marshal(n)
		if err != nil || len(data) > 1200<<10 {
			t.Errorf("%s: %d tasks take %d bytes, error %v", test.name, before, len(data), err)
		}
		t.Logf("%s: %d tasks, %d bytes", test.name, before, len(data))
	}
}

// IMG-1.13: a task is of the namespace that asked for it first, whatever image it is of; one without owners is of none.
func TestWhoseRoom(t *testing.T) {
	image := &v1alpha1.ImageSpec{}
	for i, namespace := range []string{"other", "default", "default", ""} {
		image.Tags = append(image.Tags, v1alpha1.ImageTagSpec{Tag: fmt.Sprint(i), OwnerReferences: []corev1.ObjectReference{{Namespace: namespace}, {Namespace: "default"}}})
	}
	image.Tags[3].OwnerReferences = nil
	own, all := (&planner{Snapshot: snapshot(newJob(t, ""))}).sizeOf("nginx", image)
	task := taskBytes + 2 + 2*(ownerBytes+len("default"))
	if want := 2 * task; own != want || all <= 3*task || all >= 4*task {
		t.Errorf("own %d, want %d, of %d", own, want, all)
	}
}
