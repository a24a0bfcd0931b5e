package app_test

import (
	"context"

	"github.com/podwright/podwright/examples/cluster"
	"github.com/podwright/podwright/examples/manager/app"
)

// account returns the kubeconfig of an account with the rights that a manager
// takes which does everything.
func (w *world) account(ctx context.Context, control *cluster.Cluster) string {
	w.Helper()
	config := w.config
	config.InstallCRDs, config.FeatureGates = true, allGates
	manifest, err := app.Manifest(config)
	if err != nil {
		w.Fatal(err)
	}
	account, err := control.Account(ctx, manifest)
	if err != nil {
		w.Fatal(err)
	}
	return account.Kubeconfig
}

// allGates turns on what is off by default and takes rights.
const allGates = "PreDownloadImageForInPlaceUpdate=true" // brings a CRD and a cache of its own
