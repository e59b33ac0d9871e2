"""What the laptop's resources are called."""

LOCAL_PROJECT = "local"
LOCAL_LOCATION = "global"
LOCAL_PARENT = f"projects/{LOCAL_PROJECT}/locations/{LOCAL_LOCATION}"
