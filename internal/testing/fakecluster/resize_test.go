// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// The server takes cpu and memory by the subresource, refuses what the real one refuses, and
// the kubelet gives them, or says why not.
func TestResize(t *testing.T) {
	server := fakecluster.New(nil)
	client, err := kubernetes.NewForConfig(server.Config("test"))
	if err != nil {
		t.Fatal(err)
	}
	reason := ""
	kubelet := &fakecluster.Kubelet{Client: client, Resize: func(*corev1.Pod) string { return reason }}
	pods := client.CoreV1().Pods("default")
	requests := corev1.ResourceList{"cpu": resource.MustParse("1"), "example.com/gpu": resource.MustParse("1")}
	if _, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "main", Image: "main:1", Resources: corev1.ResourceRequirements{Requests: requests}},
		{Name: "side", Image: "side:1", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"memory": resource.MustParse("1Gi")}},
			ResizePolicy: []corev1.ContainerResizePolicy{{ResourceName: "memory", RestartPolicy: corev1.RestartContainer}}}}}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	sync := func() {
		t.Helper()
		for range 2 { // the second time nothing changes
			if err := kubelet.SyncAll(t.Context(), "default"); err != nil {
				t.Fatal(err)
			}
		}
	}
	sync()
	for _, test := range []struct {
		name, data, reason string
		refused            string
		want               string // what the containers have, how often they restarted, the condition
	}{
		{"a request", `{"name":"main","resources":{"requests":{"cpu":"2"}}}`, "", "", "cpu 2 memory 1Gi restarts 0 0 []"},
		{"one that is new", `{"name":"side","resources":{"requests":{"cpu":"1"}}}`, "", "", "cpu 2 memory 1Gi restarts 0 0 []"},
		{"by policy with a restart", `{"name":"side","resources":{"requests":{"memory":"2Gi"}}}`, "", "", "cpu 2 memory 2Gi restarts 0 1 []"},
		{"deferred", `{"name":"main","resources":{"requests":{"cpu":"3"}}}`, "Deferred", "", "cpu 2 memory 2Gi restarts 0 1 [PodResizePending Deferred]"},
		{"in progress", `{"name":"main","resources":{"requests":{"cpu":"4"}}}`, fakecluster.ResizeInProgress, "", "cpu 2 memory 2Gi restarts 0 1 [PodResizeInProgress ]"},
		{"an image is not taken", `{"name":"main","image":"main:2"}`, "", "", "cpu 4 memory 2Gi restarts 0 1 []"},
		{"nothing is removed", `{"name":"main","resources":{"requests":{"cpu":null}}}`, "", "cannot be removed", ""},
		{"no other resource", `{"name":"main","resources":{"requests":{"example.com/gpu":"2"}}}`, "", "may not be changed", ""},
		{"no other QoS class", `{"name":"main","resources":{"limits":{"cpu":"4","memory":"1Gi"},"requests":{"memory":"1Gi"}}},{"name":"side","resources":{"limits":{"cpu":"1","memory":"2Gi"}}}`, "", "QoS class", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			reason = test.reason
			_, err := pods.Patch(t.Context(), "web", types.StrategicMergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[`+test.data+`]}}`), metav1.PatchOptions{}, "resize")
			if (err == nil) != (test.refused == "") || err != nil && !strings.Contains(err.Error(), test.refused) {
				t.Fatalf("error %v, want %q", err, test.refused)
			}
			sync()
			pod, err := pods.Get(t.Context(), "web", metav1.GetOptions{})
			if err != nil || len(pod.Labels) > 0 || pod.Spec.Containers[0].Image != "main:1" {
				t.Fatal(err, pod)
			}
			var conditions []string
			for _, c := range pod.Status.Conditions {
				if strings.HasPrefix(string(c.Type), "PodResize") && c.ObservedGeneration == pod.Generation {
					conditions = append(conditions, string(c.Type)+" "+c.Reason)
				}
			}
			main, side := pod.Status.ContainerStatuses[0], pod.Status.ContainerStatuses[1]
			got := fmt.Sprintf("cpu %s memory %s restarts %d %d %v", main.Resources.Requests.Cpu(), side.Resources.Requests.Memory(), main.RestartCount, side.RestartCount, conditions)
			if test.want != "" && got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
