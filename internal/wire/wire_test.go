// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
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
	crds, err := contractsOf(embedded())
	if err != nil {
		t.Fatal(err)
	}
	if found := differences(contracts(t), crds); len(found) > 0 {
		t.Error(report(found))
	}
}

// contracts returns those of testdata.
func contracts(t *testing.T) map[string]contract {
	t.Helper()
	all, err := readContracts(os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != kinds {
		t.Fatalf("testdata holds %d contracts, want %d", len(all), kinds)
	}
	return all
}

// embedded returns the CRDs of all areas, which the caller may change.
func embedded() []*unstructured.Unstructured {
	return slices.Concat(workloads.CRDs(), lifecycle.CRDs(), sidecar.CRDs(), availability.CRDs(), distribution.CRDs())
}

// maxReported is how many differences a report lists.
const maxReported = 50

// report says in what CRDs differ from their contracts.
func report(differences []string) string {
	listed := differences[:min(len(differences), maxReported)]
	text := fmt.Sprintf("CRDs differ from the contract in testdata, which clients and stored objects rely on, in %d points:\n%s", len(differences), strings.Join(listed, "\n"))
	if more := len(differences) - len(listed); more > 0 {
		text += fmt.Sprintf("\nand %d more", more)
	}
	return text
}

func TestReport(t *testing.T) {
	for _, test := range []struct {
		differences, lines int
		end                string
	}{
		{1, 2, "\ndifference 1"},
		{50, 51, "\ndifference 50"},
		{51, 52, "\ndifference 50\nand 1 more"},
		{3000, 52, "\ndifference 50\nand 2950 more"},
	} {
		var differences []string
		for i := range test.differences {
			differences = append(differences, fmt.Sprint("difference ", i+1))
		}
		got := report(differences)
		if lines := strings.Count(got, "\n") + 1; lines != test.lines || !strings.HasSuffix(got, test.end) {
			t.Errorf("report of %d differences has %d lines, want %d that end with %q:\n%s", test.differences, lines, test.lines, test.end, got)
		}
	}
}

// PF-5.3: CRDs of clusters that store v1beta1 have what clients of OpenKruise 1.9 rely on in it, but for the points in testdata/stored.txt.
func TestStoredV1beta1KeepsTheContract(t *testing.T) {
	wanted, err := readContracts(os.DirFS("testdata/stored"))
	if err != nil || len(wanted) != 7 {
		t.Fatalf("%d contracts, error %v", len(wanted), err)
	}
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
	crds, err := contractsOf(all)
	if err != nil {
		t.Fatal(err)
	}
	datadriven.RunTest(t, "testdata/stored.txt", func(*testing.T, *datadriven.TestData) string {
		return strings.Join(append(differences(wanted, crds), ""), "\n")
	})
}
