# The next step of a kubelet for its node. One that a test has set to not ready stays so.

(first(.status.conditions[]? | select(.type == "Ready") | .status) // "Unknown")
| if . == "Unknown" then "register" elif . == "True" then "heartbeat" else "none" end
