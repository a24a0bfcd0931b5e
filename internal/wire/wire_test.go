// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/distribution"
	distributionconversion "github.com/podwright/podwright/distribution/conversion"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/sidecar"
	sidecarconversion "github.com/podwright/podwright/sidecar/conversion"
	"github.com/podwright/podwright/workloads"
	workloadsconversion "github.com/podwright/podwright/workloads/conversion"
)

// kinds is how many kinds have a contract, so that none is lost unseen.
const kinds = 17

func TestCRDsKeepTheContract(t *testing.T) {
	found, err := promisesOf(embedded())
	if err != nil {
		t.Fatal(err)
	}
	for _, difference := range differences(contracts(t, "testdata", kinds), found) {
		t.Errorf("clients and stored objects rely on the contract in testdata: %s", difference)
	}
}

// contracts returns what the contracts in a folder promise, of so many kinds.
func contracts(t *testing.T, folder string, kinds int) promises {
	t.Helper()
	all, err := readContracts(os.DirFS(folder))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for place := range all {
		if !strings.Contains(place, " ") {
			found++
		}
	}
	if found != kinds {
		t.Fatalf("%s holds %d contracts, want %d", folder, found, kinds)
	}
	return all
}

// embedded returns the CRDs of all areas, which the caller may change.
func embedded() []*unstructured.Unstructured {
	return slices.Concat(workloads.CRDs(), lifecycle.CRDs(), sidecar.CRDs(), availability.CRDs(), distribution.CRDs())
}

// PF-5.3: CRDs of clusters that store v1beta1 have what clients of OpenKruise 1.9 rely on in it, but for the points in testdata/stored.txt.
func TestStoredV1beta1KeepsTheContract(t *testing.T) {
	promised := contracts(t, "testdata/stored", 7)
	all, url := embedded(), "https://hooks.example"
	for _, crd := range all {
		webhook := admissionregistrationv1.WebhookClientConfig{URL: &url}
		for _, err := range []error{
			workloadsconversion.ServeV1beta1(crd, webhook), workloadsconversion.StoreV1beta1(crd), sidecarconversion.ServeV1beta1(crd, webhook),
			sidecarconversion.StoreV1beta1(crd), distributionconversion.ServeV1beta1(crd, webhook), distributionconversion.StoreV1beta1(crd),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	found, err := promisesOf(all)
	if err != nil {
		t.Fatal(err)
	}
	datadriven.RunTest(t, "testdata/stored.txt", func(*testing.T, *datadriven.TestData) string {
		return strings.Join(append(differences(promised, found), ""), "\n")
	})
}
