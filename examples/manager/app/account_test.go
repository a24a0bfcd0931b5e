// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/manager/app"
)

// allGates turns on what is off by default and needs RBAC rules.
const allGates = "PreDownloadImageForInPlaceUpdate=true" // brings a CRD and a cache of its own

// everything returns the configuration of a manager that does all it can.
func (w *fixture) everything() app.Config {
	config := w.config
	config.InstallCRDs, config.Features.Gates = true, allGates
	return config
}

// account returns the kubeconfig of an account with the RBAC rules of a manager, and
// no others.
func (w *fixture) account(ctx context.Context, config app.Config) string {
	w.Helper()
	manifest, err := app.Manifest(config)
	if err != nil {
		w.Fatal(err)
	}
	account, err := w.control.Account(ctx, manifest)
	if err != nil {
		w.Fatal(err)
	}
	return account.Kubeconfig
}

// A manager that works in one namespace has RBAC rules in that one alone.
func TestOneNamespaceOnARealControlPlane(t *testing.T) {
	w := newFixture(t)
	w.config = w.everything()
	w.config.Namespace = "default"
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	w.config.AddFlags(flags)
	if err := flags.Parse([]string{"--nodeimage-creation-delay=0"}); err != nil {
		t.Fatal(err)
	}
	nodeImages := distributionv1alpha1.SchemeGroupVersion.WithResource("nodeimages")
	w.config.Kubeconfig = w.account(t.Context(), w.config) // instead of the rules everywhere
	m := w.start(w.config)
	w.podsRun("sample")
	w.eventually("the NodeImages of the nodes", func() error {
		images, err := w.dynamic.Resource(nodeImages).List(t.Context(), metav1.ListOptions{})
		if err == nil && len(images.Items) != 3 {
			err = fmt.Errorf("there are %d", len(images.Items))
		}
		return err
	})
	if err := m.stop(); err != nil {
		t.Error(err)
	}
}
