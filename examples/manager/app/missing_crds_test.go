// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution"
	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/workloads"
)

// A controller starts when its CRD appears, and needs no others.
func (w *fixture) withoutCRDs() {
	w.Helper()
	waiting := w.start(w.config)
	if err := crds.Install(w.Context(), w.dynamic, distribution.CRDs()); err != nil {
		w.Fatal(err)
	}
	w.jobEnds()
	if err := crds.Install(w.Context(), w.dynamic, workloads.CRDs()); err != nil {
		w.Fatal(err)
	}
	w.podsRun("early")
	if err := waiting.stop(); err != nil {
		w.Error(err)
	}
}

// The controller of ImagePullJobs works: one that selects no node is over at once.
func (w *fixture) jobEnds() {
	w.Helper()
	clients, err := distributionclient.NewForConfig(w.control.Config())
	if err != nil {
		w.Fatal(err)
	}
	jobs := clients.ImagePullJobs("default")
	job := &distributionv1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{Name: "early"}, Spec: distributionv1alpha1.ImagePullJobSpec{
		Image: "nginx", Selector: &distributionv1alpha1.ImagePullJobNodeSelector{Names: []string{"none"}},
	}}
	if _, err := jobs.Create(w.Context(), job, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	w.eventually("IMG-1.5: the end of the job", func() error {
		job, err := jobs.Get(w.Context(), job.Name, metav1.GetOptions{})
		if err == nil && job.Status.CompletionTime == nil {
			err = fmt.Errorf("status: %+v", job.Status)
		}
		return err
	})
}
