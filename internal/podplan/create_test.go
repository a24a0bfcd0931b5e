// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// CT-7: a template that was copied from a pod says nothing of the pods to come.
func TestNewPodOfACopiedTemplate(t *testing.T) {
	_, p := newPlanner()
	p.Workload.Object = pod("shop", "web", "")
	template := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{
		Labels:      map[string]string{"app": "web", "apps.kruise.io/specified-delete": "true", "apps.kruise.io/united-deployment-reserved-pod": "true"},
		Annotations: map[string]string{"apps.kruise.io/inplace-update-state": `{"revision":"web-2","nextContainerImages":{"main":"other"}}`},
	}}
	made := p.NewPod("web-0", template)
	if diff := cmp.Diff(map[string]string{"app": "web"}, made.Labels); diff != "" {
		t.Errorf("labels (-want +got) %s", diff)
	}
	if made.Annotations == nil || len(made.Annotations) > 0 {
		t.Errorf("annotations %v", made.Annotations)
	}
	for selector, want := range map[string]string{"app=web": "", "apps.kruise.io/specified-delete=true": "selects by a label that controllers own", "app=db": "does not match the labels of the template"} {
		p.Selector, _ = labels.Parse(selector)
		if err := p.Selects(template); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("selector %s: %v", selector, err)
		}
	}
}
