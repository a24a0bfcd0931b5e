// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission. With tried=fine or tried=refused the resource is
// created by a dry run, which shows. The argument access says what is answered about sources. (RD-16, RD-18)
func TestAdmission(t *testing.T) {
	var server *fakecluster.Server
	var w *Webhook
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: Kind, Resource: "resourcedistributions", Object: "{metadata: {name: pull}, spec: {resource: " + secretYAML + ", targets: {allNamespaces: true}}}",
		New: func(args map[string][]string) conformance.Served {
			server, w = fakecluster.New(nil, more...), &Webhook{}
			if tried := args["tried"]; tried != nil {
				w.Kubernetes, w.Namespace = fixture.Connect(t, server, "manager", kubernetes.NewForConfig), "kruise-system"
				if tried[0] == "refused" {
					server.FailBefore(func(fakecluster.Request) error { return fixture.ErrQuota })
				}
			}
			if answer, asked := args["access"]; asked {
				w.Access = access(answer)
			}
			return w
		},
		Asked: func() (asked string) {
			for _, r := range server.Requests("manager") {
				asked += fmt.Sprintf("\n    %s, dry run %t", r.String(), r.DryRun)
			}
			if w.Kubernetes == nil {
				return asked
			}
			server.FailBefore(nil)
			if secrets, err := w.Kubernetes.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{}); err != nil || len(secrets.Items) > 0 {
				t.Errorf("the dry run has left %v, %v", secrets, err)
			}
			return asked
		}})
}
