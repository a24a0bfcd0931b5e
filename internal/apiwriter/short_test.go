// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestShort(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"unchanged":           {strings.Repeat("a", longestText), strings.Repeat("a", longestText)},
		"cut":                 {strings.Repeat("a", longestText+1), strings.Repeat("a", longestText) + "… (1025 bytes in all)"},
		"not within a letter": {strings.Repeat("a", longestText-1) + "ää", strings.Repeat("a", longestText-1) + "… (1027 bytes in all)"},
	} {
		if got := Short(test.text); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	long := apierrors.NewForbidden(corev1.Resource("pods"), "web", errors.New(strings.Repeat("violation; ", 200_000)))
	if err := short(long); !apierrors.IsForbidden(err) || len(err.Error()) > 2*longestText || len(long.Error()) < 2_000_000 {
		t.Errorf("%d bytes are left of an error of %d: %.80v", len(err.Error()), len(long.Error()), err)
	}
}
