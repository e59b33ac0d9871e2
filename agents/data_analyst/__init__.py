"""The data analyst: an ADK application. ADK imports `data_analyst.agent`, which holds `root_agent` and `app`."""
