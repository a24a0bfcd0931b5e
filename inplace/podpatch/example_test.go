// SPDX-License-Identifier: Apache-2.0

package podpatch_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
)

// Three rules want something of one pod. What one wants stands already; the other
// two share a request, since the status endpoint takes labels too.
func Example() {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-x7k2p", UID: "8d1f", Labels: map[string]string{"tier": "front"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
	}

	var p podpatch.Patch
	p.SetLabel("tier", "front")
	p.SetLabel("state", "preparing")
	p.SetCondition(corev1.PodCondition{Type: "InService", Status: corev1.ConditionFalse, Reason: "Draining"})
	printWrites(&p, pod)

	// A new image is for the pod itself; the condition still goes first.
	p.SetImage("web", "web:2")
	printWrites(&p, pod)

	// Output:
	// 1 request(s)
	// PATCH pods/web-x7k2p/status {"metadata":{"labels":{"state":"preparing"},"uid":"8d1f"},"status":{"conditions":[{"type":"InService","status":"False","reason":"Draining","message":null,"lastTransitionTime":null}]}}
	// 2 request(s)
	// PATCH pods/web-x7k2p/status {"metadata":{"uid":"8d1f"},"status":{"conditions":[{"type":"InService","status":"False","reason":"Draining","message":null,"lastTransitionTime":null}]}}
	// PATCH pods/web-x7k2p {"metadata":{"labels":{"state":"preparing"},"uid":"8d1f"},"spec":{"containers":[{"name":"web","image":"web:2"}]}}
}

func printWrites(p *podpatch.Patch, pod *corev1.Pod) {
	writes, err := p.Writes(pod)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(writes), "request(s)")
	for _, w := range writes {
		path := "pods/" + pod.Name
		if w.Subresource != "" {
			path += "/" + w.Subresource
		}
		fmt.Println("PATCH", path, string(w.Data))
	}
}

// A plan shows what it would do to a pod.
func ExamplePatch_String() {
	var p podpatch.Patch
	p.SetCondition(corev1.PodCondition{Type: "InService", Status: corev1.ConditionFalse, Reason: "Draining"})
	p.SetLabel("state", "preparing")
	p.RemoveAnnotation("note")
	p.SetImage("web", "web:2")
	fmt.Println(p)
	// Output:
	// set condition InService=False (Draining)
	// set label state=preparing
	// remove annotation note
	// set image of container web to web:2
}

// What a pod will be after its patch is known before anything is sent.
func ExamplePatch_Apply() {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-x7k2p", Labels: map[string]string{"tier": "front"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
	}
	var p podpatch.Patch
	p.SetImage("web", "web:2")
	after, err := p.Apply(pod)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pod.Spec.Containers[0].Image, "becomes", after.Spec.Containers[0].Image)
	// Output: web:1 becomes web:2
}
