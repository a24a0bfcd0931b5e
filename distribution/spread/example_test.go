// SPDX-License-Identifier: Apache-2.0

package spread_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Where the pods of a Deployment go whose first two fit on nodes of one's own.
func ExampleInject() {
	two := intstr.FromInt32(2)
	ws := &v1alpha1.WorkloadSpread{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1alpha1.WorkloadSpreadSpec{
		TargetReference: &v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
		Subsets:         []v1alpha1.WorkloadSpreadSubset{{Name: "own", MaxReplicas: &two}, {Name: "rented"}},
	}}
	replicas := int32(3)
	workload := &spread.Workload{GroupKind: spread.Deployments, Name: "web", Replicas: &replicas}

	var pods []*corev1.Pod
	for i := range 3 {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("web-", i)}}
		result, err := spread.Inject(spread.Input{Pod: pod, Spread: ws, Workload: workload, Pods: pods, Now: time.Now()})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(result.Pod.Name, "goes to", result.Subset+":", result.Why)
		pods = append(pods, result.Pod)
	}
	// Output:
	// web-0 goes to own: it misses pods: it has 0 pods of its share of 2
	// web-1 goes to own: it misses pods: it has 1 pods of its share of 2
	// web-2 goes to rented: it misses pods: it has 0 pods of its share of 1
}
