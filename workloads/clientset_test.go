// SPDX-License-Identifier: Apache-2.0

package workloads_test

import (
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/fake"

	workloadsfake "github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/cloneset"
)

// client-go's fake clientset cannot stand for an API server, and the error says what can.
func TestFakeClientset(t *testing.T) {
	options := cloneset.Options{Kubernetes: fake.NewClientset(), Workloads: workloadsfake.NewClient()}
	if _, err := cloneset.New(options); err == nil || !strings.Contains(err.Error(), "workloads/fakecluster") {
		t.Errorf("error %v, want one that says what to use in its place", err)
	}
}
