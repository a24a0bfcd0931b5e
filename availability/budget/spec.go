// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// selectorOf reads the selector of a budget. An empty one selects nothing: admission
// refuses it, since it would select everything.
func selectorOf(b *v1alpha1.PodUnavailableBudget) (labels.Selector, error) {
	s := b.Spec.Selector
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return labels.Nothing(), nil
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return nil, fmt.Errorf("spec.selector: %w", err)
	}
	return selector, nil
}

// protectedTotal is the number in the annotation of a budget; false if there is none that can
// be read. (PUB-4)
func protectedTotal(b *v1alpha1.PodUnavailableBudget) (int32, bool) {
	n, err := strconv.ParseInt(b.Annotations[v1alpha1.PubProtectTotalReplicasAnnotation], 10, 32)
	return int32(max(n, 0)), err == nil
}

// protects tells whether a budget lists an operation. One that lists none protects from all but resizes. (PUB-14.5)
func protects(b *v1alpha1.PodUnavailableBudget, operation v1alpha1.PubOperation) bool {
	list := b.Annotations[v1alpha1.PubProtectOperationAnnotation]
	if list == "" {
		return operation != v1alpha1.PubResizeOperation
	}
	for item := range strings.SplitSeq(list, ",") {
		if v1alpha1.PubOperation(item) == operation {
			return true
		}
	}
	return false
}

// protectsFrom tells whether a budget protects from what is asked. (PUB-14.5, PUB-19)
func protectsFrom(b *v1alpha1.PodUnavailableBudget, request Request) bool {
	return protects(b, request.Operation) ||
		request.Operation == v1alpha1.PubResizeOperation && !request.ResizesAlone && protects(b, v1alpha1.PubUpdateOperation)
}

// Desired is how many pods have to be available, of a total that should be there. The error says
// which field of the budget cannot be read. (PUB-6, PUB-7)
func Desired(b *v1alpha1.PodUnavailableBudget, total int32) (int32, error) {
	switch {
	case b.Spec.MaxUnavailable != nil:
		n, err := share("spec.maxUnavailable", b.Spec.MaxUnavailable, total)
		return max(total-n, 0), err
	case b.Spec.MinAvailable != nil:
		return share("spec.minAvailable", b.Spec.MinAvailable, total)
	}
	return 0, fmt.Errorf("spec: needs maxUnavailable or minAvailable")
}

// share is a number, or a percentage of a total rounded up; at least 0.
func share(field string, value *intstr.IntOrString, total int32) (int32, error) {
	if value.Type == intstr.Int {
		return max(value.IntVal, 0), nil
	}
	digits, found := strings.CutSuffix(value.StrVal, "%")
	percent, err := strconv.ParseInt(digits, 10, 32)
	if !found || err != nil || percent < 0 {
		return 0, fmt.Errorf("%s: %q is neither a number nor a percentage such as 30%%", field, value.StrVal)
	}
	return int32(min((percent*int64(total)+99)/100, math.MaxInt32)), nil
}
