// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// terms is a pod with node-selector terms.
func terms(all string) string {
	return `{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [` + all + `]}}}}`
}

const here = `matchFields: [{key: metadata.name, operator: In, values: [here]}]`

func TestScheduler(t *testing.T) {
	for _, test := range []struct {
		name, pod, node string
		of              string
		takes, evicts   bool
	}{
		{"anything", `{}`, `{}`, "", true, false},
		{"the node that it names", `{nodeName: here}`, `{}`, "here", true, false},
		{"another node", `{nodeName: there}`, `{}`, "there", false, false},
		{"its selector", `{nodeSelector: {zone: a}}`, `{metadata: {labels: {zone: b}}}`, "", false, false},
		{"a term that names the node", terms(`{` + here + `}`), `{}`, "here", true, false},
		{"beside an expression that holds", terms(`{` + here + `, matchExpressions: [{key: pool, operator: NotIn, values: [gpu]}]}`), `{}`, "here", true, false},
		{"beside one that does not", terms(`{` + here + `, matchExpressions: [{key: pool, operator: Exists}]}`), `{}`, "here", false, false},
		{"the second field", terms(`{matchFields: [{key: metadata.name, operator: NotIn, values: [there]}, {key: metadata.name, operator: In, values: [here]}]}`), `{}`, "here", true, false},
		{"the second term", terms(`{matchExpressions: [{key: zone, operator: In, values: [a]}]}, {` + here + `}`), `{metadata: {labels: {zone: a}}}`, "here", true, false},
		{"two nodes", terms(`{matchFields: [{key: metadata.name, operator: In, values: [here, there]}]}`), `{}`, "", true, false},
		{"no term", terms(``), `{}`, "", false, false},
		{"an empty term", terms(`{}`), `{}`, "", false, false},
		{"more than", terms(`{matchExpressions: [{key: cores, operator: Gt, values: ["3"]}]}`), `{metadata: {labels: {cores: "4"}}}`, "", true, false},
		{"less than", terms(`{matchExpressions: [{key: cores, operator: Lt, values: ["3"]}]}`), `{metadata: {labels: {cores: "4"}}}`, "", false, false},
		{"a label that is not there", terms(`{matchExpressions: [{key: cores, operator: DoesNotExist}]}`), `{}`, "", true, false},
		{"cordoned", `{}`, `{spec: {unschedulable: true}}`, "", false, false},
		{"NoSchedule", `{}`, `{spec: {taints: [{key: a, effect: NoSchedule}]}}`, "", false, false},
		{"PreferNoSchedule", `{}`, `{spec: {taints: [{key: a, effect: PreferNoSchedule}]}}`, "", true, false},
		{"NoExecute", `{}`, `{spec: {taints: [{key: a, effect: NoExecute}]}}`, "", false, true},
		{"tolerated", `{tolerations: [{key: a, operator: Exists}]}`, `{spec: {taints: [{key: a, effect: NoExecute}]}}`, "", true, false},
		{"too big together", `{containers: [{resources: {requests: {cpu: "2"}}}, {resources: {requests: {cpu: "2"}}}]}`, `{status: {allocatable: {cpu: "3"}}}`, "", false, false},
		{"small enough", `{containers: [{resources: {requests: {cpu: "2"}}}], initContainers: [{resources: {requests: {cpu: "2"}}}]}`, `{status: {allocatable: {cpu: "3"}}}`, "", true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var pod corev1.Pod
			node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "here"}}
			if err := errors.Join(yaml.UnmarshalStrict([]byte(test.pod), &pod.Spec), yaml.UnmarshalStrict([]byte(test.node), &node)); err != nil {
				t.Fatal(err)
			}
			of, takes, evicts := NodeOf(&pod), Takes(&node, &pod.Spec), Evicts(&node, &pod.Spec)
			if of != test.of || takes != test.takes || evicts != test.evicts {
				t.Errorf("node %q, takes %t, evicts %t; want %q, %t, %t", of, takes, evicts, test.of, test.takes, test.evicts)
			}
		})
	}
}
